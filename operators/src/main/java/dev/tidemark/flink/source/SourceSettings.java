package dev.tidemark.flink.source;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where rows come from. */
public sealed interface SourceSettings extends Serializable {
  /**
   * Bounded files.
   *
   * @param paths files, folders or globs, in the order given
   * @param order whether whole files are read one after another by one reader
   * @param compression {@code auto} (by the name's ending), {@code none} or {@code gzip}
   */
  record Files(List<String> paths, Order order, String compression) implements SourceSettings {}

  /** In which order files are read. */
  enum Order {
    /** One reader, whole files, in the order given, else by name. */
    NAME,
    /** In parallel. */
    ANY
  }

  /**
   * Generated rows: a pure function of seed and row number.
   *
   * @param rows how many; {@code Long.MAX_VALUE}: for ever
   * @param rowsPerSecond the rate; 0: as fast as may be
   * @param keys the number of keys
   * @param valueBytes the length of a value
   * @param lateShare the share of rows that come late
   * @param deleteShare the share of records that delete
   * @param seed the seed
   */
  record Datagen(
      long rows,
      long rowsPerSecond,
      long keys,
      int valueBytes,
      double lateShare,
      double deleteShare,
      long seed)
      implements SourceSettings {}

  /**
   * How watermarks follow the rows.
   *
   * @param delay how far they stay behind the latest row
   * @param idleTimeout after how long a silent reader no longer holds them; null: never
   */
  record Watermarks(Duration delay, @Nullable Duration idleTimeout) implements Serializable {}
}
