package dev.tidemark.spine;

/**
 * How much a shard presses its job to read less: from 0, appends are far from being refused, to 1,
 * one is refused. Between, it is how far the count of level 0 has come from {@link #BEGIN} of the
 * way between N, where merging begins, and the first count that is refused.
 *
 * <p>Only a refused append makes it 1: a job that read nothing at K runs would never find out that
 * nobody merges, and would wait for ever instead of failing.
 */
public final class Pressure {
  /** Where between N and K it begins: what is below is what the queue is for. */
  private static final double BEGIN = 0.75;

  private Pressure() {}

  /**
   * The pressure of a shard.
   *
   * @param count what level 0 counts, in runs
   * @param refused whether an append waits for room
   */
  public static double of(SpineSpec spec, int count, boolean refused) {
    if (refused) {
      return 1;
    }
    double begin = spec.fanIn() + BEGIN * (spec.queue() - spec.fanIn());
    double pressure = (count - begin) / (spec.queue() + 1 - begin);
    // A queue made shorter leaves more than K: the next append is refused, and says so.
    return Math.max(0, Math.min(pressure, (spec.queue() - begin) / (spec.queue() + 1 - begin)));
  }
}
