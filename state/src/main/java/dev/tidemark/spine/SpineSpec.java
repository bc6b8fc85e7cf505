package dev.tidemark.spine;

import java.io.Serializable;

/**
 * The promise that a shard keeps: how many runs a reader may have to merge, how often a row may be
 * written, how much garbage may lie about. Stored with the shard, enforced by its state machine.
 *
 * @param fanIn N, runs merged at a time, at least 2
 * @param queue K, the most runs that a level may count, at least 2N - 1
 * @param rest R, runs in all above which a quiet shard merges on, at least 2N
 * @param baseBytes w0, the row bytes at which a batch stops being small
 * @param space sigma, the most space amplification, above 1
 * @param merging whether merges are planned; off: appends go on to K and then wait
 */
public record SpineSpec(
    int fanIn, int queue, int rest, long baseBytes, double space, boolean merging)
    implements Serializable {
  /** No more runs than this can be merged at a time or wait in a level. */
  private static final int MAX_RUNS = 1 << 20;

  /** What a shard gets when nobody says otherwise. */
  public static final SpineSpec DEFAULT = new SpineSpec(8, 16, 24, 1L << 20, 2.0, true);

  /** Checks the knobs against each other; IllegalArgumentException names the knob. */
  public SpineSpec {
    if (fanIn < 2 || fanIn > MAX_RUNS) {
      throw new IllegalArgumentException(
          "fanIn is " + fanIn + ": must be from 2 to " + MAX_RUNS + " runs");
    }
    if (queue < 2 * fanIn - 1 || queue > 4 * MAX_RUNS) {
      throw new IllegalArgumentException(
          "queue is " + queue + ": must be at least 2 * fanIn - 1 = " + (2 * fanIn - 1) + " runs");
    }
    if (rest < 2 * fanIn) {
      throw new IllegalArgumentException(
          "rest is " + rest + ": must be at least 2 * fanIn = " + 2 * fanIn + " runs");
    }
    if (baseBytes < 1) {
      throw new IllegalArgumentException("baseBytes is " + baseBytes + ": must be at least 1");
    }
    if (!(space > 1) || Double.isInfinite(space)) {
      throw new IllegalArgumentException("space is " + space + ": must be above 1");
    }
  }

  /** The same knobs with merging on or off. */
  public SpineSpec withMerging(boolean other) {
    return new SpineSpec(fanIn, queue, rest, baseBytes, space, other);
  }

  /** The level that a batch of {@code bytes} row bytes would come to by merging alone. */
  public int naturalLevel(long bytes) {
    int level = 0;
    for (long left = bytes / baseBytes; left >= fanIn; left /= fanIn) {
      level++;
    }
    return level;
  }

  /** The most runs that a fresh batch may have. */
  public int freshRuns() {
    return Math.max(1, fanIn / 2);
  }

  /** The share of garbage above which batches are consolidated. */
  public double garbageShare() {
    return 1 - 1 / space;
  }
}
