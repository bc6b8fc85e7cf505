package dev.tidemark.flink.write;

import dev.tidemark.time.Frontier;

/**
 * What becomes of an update with commit = frontier, told when it arrives. Descriptions close in
 * order, so one that isn't below what has begun to close leaves at its own time. Pure.
 */
enum Arrival {
  /** It is stored. */
  TAKEN,

  /** Its time is closed. */
  LATE,

  /** An earlier attempt has stored it. */
  REPLAYED;

  /**
   * Tells.
   *
   * <p>Error rows are stored at least once: one that is late, or has no time of its own, may have
   * been read before or not, and is kept.
   *
   * @param closed up to where this attempt has closed
   * @param stored the upper of the shard's log when this attempt began
   */
  static Arrival of(boolean error, long time, Frontier closed, Frontier stored) {
    boolean late = closed.hasPassed(time);
    if (error && (late || time == Long.MIN_VALUE)) {
      return TAKEN;
    }
    if (late) {
      return LATE;
    }
    return stored.hasPassed(time) ? REPLAYED : TAKEN;
  }
}
