package dev.tidemark.flink.decode;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Which records of the input belong to a shard, and how they are read.
 *
 * @param shard the index of the shard in the job's list
 * @param match how its records are told; null: all records are its
 * @param envelope what a record says about its row
 * @param eventTimeColumn the column that holds a row's time; null: the record's metadata
 */
public record TableMapping(
    int shard, @Nullable Match match, Envelope envelope, @Nullable String eventTimeColumn)
    implements Serializable {

  /** By what records are told apart; one kind a job. */
  public enum MatchKind {
    /** The database's own table name, {@code schema.table}. */
    TABLE,
    /** The topic. */
    TOPIC,
    /** A column's value. */
    COLUMN
  }

  /**
   * A condition.
   *
   * @param kind by what
   * @param column the column's name, for COLUMN; else empty
   * @param value what it must equal
   */
  public record Match(MatchKind kind, String column, String value) implements Serializable {}
}
