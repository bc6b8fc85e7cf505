package dev.tidemark.spine;

/**
 * What was written to a shard so far: what its bounds are computed from, counted by the shard
 * itself since its log is not kept for ever. A sum that would overflow stays at the greatest
 * number.
 *
 * @param runs M, the runs appended, as levels count them
 * @param bytes A, their row bytes
 * @param merges merges installed
 * @param merged the row bytes that they wrote, but for those below
 * @param forced the row bytes that consolidations wrote which their own garbage doesn't pay for:
 *     somebody wanted them, not the spec, so no bound speaks of them
 * @param depth the greatest L that a former spec had come to; 0 under the first
 */
public record Written(long runs, long bytes, long merges, long merged, long forced, double depth) {
  /** Nothing yet. */
  public static final Written NONE = new Written(0, 0, 0, 0, 0, 0);

  /** Checks that nothing is negative. */
  public Written {
    if (runs < 0 || bytes < 0 || merges < 0 || merged < 0 || forced < 0 || !(depth >= 0)) {
      throw new IllegalArgumentException("a count of what was written is negative");
    }
  }

  /** With one more fresh batch. */
  public Written append(Batch batch) {
    return new Written(
        sum(runs, Spine.weight(batch)), sum(bytes, batch.bytes()), merges, merged, forced, depth);
  }

  /** With the output of one more merge. */
  public Written merge(Batch output) {
    return new Written(runs, bytes, sum(merges, 1), sum(merged, output.bytes()), forced, depth);
  }

  /** With one more consolidation that no rule asked for. */
  public Written force(Batch output) {
    return new Written(runs, bytes, sum(merges, 1), merged, sum(forced, output.bytes()), depth);
  }

  /** When {@code spec} is no longer in force: its L so far still counts. */
  public Written leave(SpineSpec spec) {
    return new Written(runs, bytes, merges, merged, forced, Bounds.of(spec, this).depth());
  }

  /**
   * Write amplification: bytes of appends and installed merges over bytes appended; 1 at first.
   * What was forced is not in it.
   */
  public double amplification() {
    return bytes == 0 ? 1 : ((double) bytes + merged) / bytes;
  }

  private static long sum(long one, long other) {
    return Long.MAX_VALUE - one < other ? Long.MAX_VALUE : one + other;
  }
}
