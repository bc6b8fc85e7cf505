package dev.tidemark.log;

/**
 * How many versions lie between rollups, and how many are deleted together. Part of the format, so
 * all who work on a shard must agree: {@link #FORMAT}. Only a simulation, which has no time for
 * long logs, takes smaller ones.
 *
 * @param rollup a rollup is written at multiples of this
 * @param block the versions of a block, the unit in which the log is deleted
 */
public record LogIntervals(long rollup, long block) {
  /** What every real shard has. */
  public static final LogIntervals FORMAT = new LogIntervals(64, 1024);

  /** Checks that both are positive. */
  public LogIntervals {
    if (rollup < 1 || block < 1) {
      throw new IllegalArgumentException("rollup " + rollup + ", block " + block);
    }
  }
}
