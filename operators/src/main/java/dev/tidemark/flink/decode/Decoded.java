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
   */
  record Rows(Table table, List<Change> changes, long time, boolean ordered, int unknownColumns)
      implements Decoded {}

  /**
   * One change.
   *
   * @param action what is done
   * @param values the row in schema order; for DELETE the key's values in key order
   * @param diff how often, for UPDATE
   */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  record Change(Action action, @Nullable Object[] values, long diff) {}

  /** What a change does. */
  enum Action {
    /** Adds the row {@code diff} times; below zero: takes it away. */
    UPDATE,
    /** Makes the row the one of its key. */
    SET,
    /** Takes the key's row away, whatever it is. */
    DELETE
  }
}
