package dev.tidemark.spine;

/**
 * What is asked of a shard: the figures that bounds and costs of a spec hang on.
 *
 * @param bytesPerSecond row bytes appended a second
 * @param commitMillis from one commit to the next
 * @param runs runs a commit, at least 1
 * @param months for how long it has gone on when the bounds are taken, in months of 30 days
 * @param kept the share of appended bytes that stays because nothing retracts it, 0 to 1
 * @param retainMillis how long history is kept
 */
public record Load(
    double bytesPerSecond,
    long commitMillis,
    int runs,
    double months,
    double kept,
    long retainMillis) {
  static final double MONTH_SECONDS = 30 * 86_400.0;

  /** Checks the figures; IllegalArgumentException names the one that can't be. */
  public Load {
    check(bytesPerSecond > 0 && bytesPerSecond <= 1e12, "rate", "above 0, at most 10^12 bytes/s");
    check(commitMillis >= 1, "commit interval", "at least 1 ms");
    check(runs >= 1, "runs a commit", "at least 1");
    check(months > 0 && months <= 1200, "months", "above 0, at most 1200");
    check(kept >= 0 && kept <= 1, "kept share", "from 0 to 1");
    check(retainMillis >= 0, "retain", "at least 0");
  }

  private static void check(boolean good, String figure, String range) {
    if (!good) {
      throw new IllegalArgumentException("the " + figure + " must be " + range);
    }
  }

  /** Commits a month. */
  public double commitsPerMonth() {
    return MONTH_SECONDS * 1000 / commitMillis;
  }

  /** Row bytes appended over all the months. */
  public double appendedBytes() {
    return bytesPerSecond * MONTH_SECONDS * months;
  }

  /** Row bytes of one commit. */
  public double commitBytes() {
    return bytesPerSecond * commitMillis / 1000;
  }

  /** The bounds of a spec at the end of the months. */
  public Bounds bounds(SpineSpec spec) {
    double appended = commitsPerMonth() * months * runs;
    long total = (long) Math.min(Long.MAX_VALUE, appended);
    long bytes = (long) Math.min(Long.MAX_VALUE, appendedBytes());
    return runs == 1 ? Bounds.ofSingleRuns(spec, total, bytes) : Bounds.of(spec, total, bytes);
  }

  /** The row bytes a second that merges must manage so that no append waits (NoStall). */
  public double mergeBytesPerSecond(SpineSpec spec) {
    return bytesPerSecond * (bounds(spec).depth() + 1 / (spec.space() - 1)) / 0.9;
  }
}
