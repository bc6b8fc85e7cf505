package dev.tidemark.flink.message;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/**
 * What a record says about the row of a key, on its way to upsert: set it, or delete it.
 *
 * @param shard the index of the shard in the job's list
 * @param key the encoded key columns; also how the row begins
 * @param row the encoded row, whole; null: the key's row is deleted
 * @param time the time in milliseconds
 * @param counted whether what becomes of this row is what becomes of its record: true for the last
 *     of a record's rows
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record KeyedRow(int shard, byte[] key, byte @Nullable [] row, long time, boolean counted) {
  /** Its type, for Flink. */
  public static final TypeInformation<KeyedRow> TYPE =
      new MessageType<>(KeyedRow.class, KeyedRowSerializer.INSTANCE);
}
