package dev.tidemark.flink.message;

import dev.tidemark.schema.Schema;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.jspecify.annotations.Nullable;

/**
 * What a record says about the row of a key, on its way to upsert: set it, or delete it; or, one
 * copy for each bucket of keys, delete the rows of all keys.
 *
 * @param shard the index of the shard in the job's list
 * @param key the encoded key columns; also how the row begins. Of a truncate: the bucket's number
 * @param row the encoded row, whole; null: the key's row is deleted
 * @param time the time in milliseconds
 * @param counted whether what becomes of this row is what becomes of its record: true for the last
 *     of a record's rows
 * @param truncate whether the rows of all keys of a bucket are deleted
 * @param patch what the row lacks; null: it is whole
 * @param form the {@link #form} of the schema in which the row is encoded; 0: not said
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record KeyedRow(
    int shard,
    byte[] key,
    byte @Nullable [] row,
    long time,
    boolean counted,
    boolean truncate,
    @Nullable Patch patch,
    int form) {
  /** Its type, for Flink. */
  public static final TypeInformation<KeyedRow> TYPE =
      new MessageType<>(KeyedRow.class, KeyedRowSerializer.INSTANCE);

  /**
   * Which of a row's values are not in its record, because they haven't changed: they are those of
   * the key's last row. In the row they are NULL.
   *
   * @param columns their columns' places in the schema
   * @param error the encoded error row for the case that there is no last row
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  public record Patch(int[] columns, byte[] error) {}

  /** A row that is whole, or a delete. */
  public KeyedRow(int shard, byte[] key, byte @Nullable [] row, long time, boolean counted) {
    this(shard, key, row, time, counted, false, null, 0);
  }

  /** What tells a schema from others in which rows may be on their way through a restart. */
  public static int form(Schema schema) {
    return schema.toString().hashCode();
  }

  /** The copy of a truncate for one bucket. */
  public static KeyedRow truncate(int shard, int bucket, long time) {
    byte[] number = ByteBuffer.allocate(Integer.BYTES).putInt(bucket).array();
    return new KeyedRow(shard, number, null, time, false, true, null, 0);
  }

  /** The bucket of a truncate. */
  public int bucket() {
    return ByteBuffer.wrap(key).getInt();
  }
}
