package dev.tidemark.flink.decode;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one record says. A decision only: nothing has been encoded, counted or emitted. */
sealed interface Decoded {
  /** Nothing, by nature: a tombstone, a heartbeat, a transaction's mark, a blank line. */
  Decoded IGNORED = new Ignored();

  /** See {@link #IGNORED}. */
  record Ignored() implements Decoded {}

  /**
   * It belongs to a table that no shard asks for.
   *
   * @param table what would have to match
   */
  record Unmatched(String table) implements Decoded {}

  /**
   * It can't be read.
   *
   * @param table the shard whose error it is
   * @param tableName the name of its table, empty where unknown
   * @param reason why
   * @param time its time in milliseconds; {@code Long.MIN_VALUE}: unknown
   */
  record Failure(Table table, String tableName, String reason, long time) implements Decoded {}

  /**
   * It changes rows of a shard.
   *
   * @param table the shard
   * @param changes in their order, all or none of which hold
   * @param time when, in milliseconds
   * @param ordered whether its time must not be below that of the row before it
   * @param unknownColumns how many of its columns the shard doesn't have
   * @param failure why the record is an error although these changes of it hold; null: it is none
   */
  record Rows(
      Table table,
      List<Change> changes,
      long time,
      boolean ordered,
      int unknownColumns,
      @Nullable Failure failure)
      implements Decoded {
    /** All that the record says. */
    Rows(Table table, List<Change> changes, long time, boolean ordered, int unknownColumns) {
      this(table, changes, time, ordered, unknownColumns, null);
    }
  }

  /**
   * One change.
   *
   * @param action what is done
   * @param values the row in schema order; for DELETE the key's values in key order; for TRUNCATE
   *     nothing
   * @param diff how often, for UPDATE
   * @param missing for SET: whose values the record leaves out because they haven't changed; null:
   *     nobody's
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  record Change(
      Action action, @Nullable Object[] values, long diff, @Nullable MissingValues missing) {
    /** All of which is known. */
    Change(Action action, @Nullable Object[] values, long diff) {
      this(action, values, diff, null);
    }
  }

  /**
   * Values that a record leaves out.
   *
   * @param columns their columns' places in the schema
   * @param failure what the record is when they can't be found
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  record MissingValues(int[] columns, Failure failure) {}

  /** What a change does. */
  enum Action {
    /** Adds the row {@code diff} times; below zero: takes it away. */
    UPDATE,
    /** Makes the row the one of its key. */
    SET,
    /** Takes the key's row away, whatever it is. */
    DELETE,
    /** Takes the rows of all keys away. */
    TRUNCATE
  }
}
