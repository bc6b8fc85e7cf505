package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.decode.Decoded.Failure;
import dev.tidemark.flink.decode.Decoded.MissingValues;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message that belongs to a table, and what it can become: one change of a row, in the shape of
 * the envelope or flat.
 *
 * @param message the message
 * @param table the shard
 * @param tableName the name of its table in the database, as far as the message has it
 * @param metadataTime the commit's time in milliseconds; {@link RawRecord#NO_TIMESTAMP}: unknown
 * @param rows reads its rows
 */
record DebeziumChange(
    DebeziumMessage message, Table table, String tableName, long metadataTime, ObjectRows rows) {
  /** What a record says whose values are not all there. */
  private static final String MISSING =
      "the large value is not in the message (" + DebeziumValues.PLACEHOLDER + ")";

  private static final String FULL = "set REPLICA IDENTITY FULL on the table";

  Envelope envelope() {
    return table.mapping.envelope();
  }

  /** The whole record is an error. */
  Failure failure(InvalidRowException e) {
    return failure(String.valueOf(e.getMessage()));
  }

  private Failure failure(String reason) {
    return new Failure(table, tableName, reason, metadataTime);
  }

  /** Updates and deletes have no place where rows are only added. */
  void refuseInAppend(String what) throws InvalidRowException {
    if (envelope() == Envelope.APPEND) {
      throw new InvalidRowException(
          what + ", but envelope is append; take changelog or upsert for " + table.name);
    }
  }

  /**
   * A row is there that wasn't, or is the one of its key now.
   *
   * @param isNew whether the database inserted it: if it lacks values, its key was changed, and
   *     they stand under the old one
   */
  Decoded set(JsonNode image, @Nullable JsonNode schema, boolean isNew) throws InvalidRowException {
    @Nullable Object[] row = rows.row(table, image, schema);
    int unknown = rows.unknownColumns();
    BitSet missing = rows.missing();
    if (envelope() != Envelope.UPSERT) {
      refuseMissing(missing);
      return rows(List.of(new Change(Action.UPDATE, row, 1)), row, unknown);
    }
    if (isNew && !missing.isEmpty()) {
      throw new InvalidRowException(movedReason(missing));
    }
    return rows(List.of(setting(row, missing)), row, unknown);
  }

  /** The row of a key became another, perhaps under another key. */
  Decoded replace(JsonNode before, JsonNode image) throws InvalidRowException {
    @Nullable Object[] row = rows.row(table, image, message.schemaOf("after"));
    int unknown = rows.unknownColumns();
    BitSet missing = rows.missing();
    @Nullable Object @Nullable [] oldKey =
        before.isObject() ? rows.key(table, before, message.schemaOf("before")) : null;
    if (oldKey == null || table.isKeyOf(oldKey, row)) {
      return rows(List.of(setting(row, missing)), row, unknown);
    }
    Change delete = new Change(Action.DELETE, oldKey, 1);
    if (missing.isEmpty()) {
      return rows(List.of(delete, setting(row, missing)), row, unknown);
    }
    // As if it came as a delete and an insert, which is Debezium's usual form of it.
    Decoded.Rows moved = rows(List.of(delete), row, unknown);
    return new Decoded.Rows(
        table,
        moved.changes(),
        moved.time(),
        moved.ordered(),
        unknown,
        failure(movedReason(missing)));
  }

  private Change setting(@Nullable Object[] row, BitSet missing) {
    if (missing.isEmpty()) {
      return new Change(Action.SET, row, 1);
    }
    String reason =
        table.column(missing.nextSetBit(0))
            + MISSING
            + ", and the shard has no row of this key to take it from; "
            + FULL;
    return new Change(
        Action.SET, row, 1, new MissingValues(missing.stream().toArray(), failure(reason)));
  }

  private String movedReason(BitSet missing) {
    return table.column(missing.nextSetBit(0))
        + MISSING
        + ", and the row's key was changed: it stands under the old key; "
        + FULL;
  }

  /** Without upsert nobody knows what a value was. */
  void refuseMissing(BitSet missing) throws InvalidRowException {
    if (!missing.isEmpty()) {
      throw new InvalidRowException(
          table.column(missing.nextSetBit(0))
              + MISSING
              + "; "
              + FULL
              + ", or take envelope upsert for "
              + table.name);
    }
  }

  /** All rows of the table are gone. */
  Decoded truncate() throws InvalidRowException {
    String what = "truncate of " + (tableName.isEmpty() ? table.name : tableName);
    if (envelope() != Envelope.UPSERT) {
      throw new InvalidRowException(
          what + ": which rows it takes away is not known; take envelope upsert for " + table.name);
    }
    if (table.timeColumn >= 0) {
      throw new InvalidRowException(
          what + ": it has no row that could hold its time; take event-time metadata");
    }
    Change truncate = new Change(Action.TRUNCATE, new @Nullable Object[0], 1);
    return rows(List.of(truncate), new @Nullable Object[0], 0);
  }

  /** The changes at their time, which is in {@code timed} where a column holds it. */
  Decoded.Rows rows(List<Change> changes, @Nullable Object[] timed, int unknownColumns)
      throws InvalidRowException {
    long time = table.timeColumn < 0 ? metadataTime : table.eventTime(timed);
    if (table.timeColumn < 0 && time == RawRecord.NO_TIMESTAMP) {
      throw new InvalidRowException("no source.ts_us and no source.ts_ms to take the time from");
    }
    boolean ordered = table.timeColumn < 0 || envelope() == Envelope.CHANGELOG;
    return new Decoded.Rows(table, changes, time, ordered, unknownColumns);
  }
}
