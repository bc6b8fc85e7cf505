package dev.tidemark.spine;

/**
 * What a spec promises for what was appended so far: the bounds of docs/spec.md as figures.
 *
 * @param depth L, about how many levels there are, the one of rule 6 included
 * @param runs ReadBound: the most runs at any version while no consolidation is under way; twice
 *     that while one is
 * @param runsAtRest the most runs once nothing is appended and nothing is wanted any more
 * @param writes WriteBound where retractions cancel additions: bytes of appends and merges over
 *     bytes appended
 * @param writesAtWorst WriteBound whatever the data
 * @param space SpaceBound: bytes stored over bytes that would be left without garbage
 */
public record Bounds(
    double depth, long runs, int runsAtRest, double writes, double writesAtWorst, double space) {

  /**
   * The bounds of a spec.
   *
   * @param spec the spec in force; after a change of spec take the greatest depth of all so far
   * @param runs M, the runs appended so far
   * @param bytes A, their row bytes
   */
  public static Bounds of(SpineSpec spec, long runs, long bytes) {
    return of(spec, depth(spec, runs, bytes, spec.fanIn() + 4) + 1);
  }

  /** The bounds of a spec for what was written, the greatest depth of former specs included. */
  public static Bounds of(SpineSpec spec, Written written) {
    Bounds now = of(spec, written.runs(), written.bytes());
    return of(spec, Math.max(now.depth, written.depth()));
  }

  /** The bounds of a spec where every batch was appended as one run. */
  public static Bounds ofSingleRuns(SpineSpec spec, long runs, long bytes) {
    return of(spec, depth(spec, runs, bytes, 4) + 1);
  }

  private static Bounds of(SpineSpec spec, double depth) {
    double sigma = spec.space();
    return new Bounds(
        depth,
        spec.queue() * ((long) Math.floor(depth) + 1),
        spec.rest(),
        depth + 2 + 1 / (sigma - 1),
        depth + 2 + 2 * sigma / (sigma - 1),
        sigma);
  }

  /** {@code log_N(M + c*A/w0)}, 0 before the first append. */
  private static double depth(SpineSpec spec, long runs, long bytes, int share) {
    double small = runs + share * ((double) bytes / spec.baseBytes());
    return small <= 1 ? 0 : Math.log(small) / Math.log(spec.fanIn());
  }
}
