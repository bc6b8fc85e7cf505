package dev.tidemark.spine;

/**
 * What one shard asks of an object store in a month: closed forms (docs/spec.md), each the most
 * that its load can make it. Requests of readers, lost races and idle looks at the log are no part
 * of it.
 *
 * @param commits commits
 * @param merges merges
 * @param puts requests of the PUT class
 * @param gets requests of the GET class
 * @param storedBytes bytes stored at the end of the load's months, taking a row byte as a byte
 */
public record Cost(double commits, double merges, double puts, double gets, double storedBytes) {
  private static final double MIB = 1 << 20;

  /** Less than this travels in the log entry of its commit. */
  private static final double INLINE_BYTES = 64 << 10;

  /** A part ends at this size. */
  private static final double PART_BYTES = 128 * MIB;

  /** A larger object goes up in pieces of this size, with a request before and one after. */
  private static final double PIECE_BYTES = 16 * MIB;

  /** A smaller part is read in one request; of a larger one the footer, then row groups. */
  private static final double WHOLE_BYTES = 8 * MIB;

  private static final double GROUP_BYTES = 16 * MIB;

  /** A rollup is written each so many versions. */
  private static final double ROLLUP_VERSIONS = 64;

  /** Merges are cut at this size: the default of merge.chunk-bytes. */
  private static final double CHUNK_BYTES = 256 * MIB;

  /** Merged inputs stay for so long: the default of gc.keep. */
  private static final double KEEP_SECONDS = 3600;

  /** The cost of a load under a spec. */
  public static Cost of(SpineSpec spec, Load load) {
    return of(spec, load, CHUNK_BYTES);
  }

  /** The cost of a load under a spec, where merges are cut into chunks of that size. */
  public static Cost of(SpineSpec spec, Load load, double chunkBytes) {
    Bounds bounds = load.bounds(spec);
    double commits = load.commitsPerMonth();
    double runBytes = load.commitBytes() / load.runs();
    double merges = commits * mergesPerCommit(spec, load);
    double mergedBytes =
        load.bytesPerSecond() * Load.MONTH_SECONDS * Math.max(0, writes(load, bounds) - 1);
    double mergeBytes = merges == 0 ? 0 : mergedBytes / merges;
    double minutes = Load.MONTH_SECONDS / 60;
    double sinceMoves =
        Math.min(commits, load.retainMillis() == 0 ? Math.max(minutes, merges) : minutes);
    double versions = commits + merges + sinceMoves;
    double puts =
        versions * (1 + 1 / ROLLUP_VERSIONS)
            + commits * (runBytes < INLINE_BYTES ? 0 : load.runs() * putsOf(runBytes))
            + merges * putsOf(mergeBytes);
    // A merge reads what it writes and what vanishes: at most all that was ever written.
    double readBytes = load.bytesPerSecond() * Load.MONTH_SECONDS * writes(load, bounds);
    double inputs = commits * load.runs() + merges;
    double gets =
        inputs * getsOf(inputs == 0 ? 0 : readBytes / inputs)
            + getsOfChunks(spec, load, bounds) / chunkBytes;
    return new Cost(commits, merges, puts, gets, stored(spec, load, bounds));
  }

  /**
   * What chunks ask for anew, times the size of a chunk: each opens all of its merge's runs, and
   * reads a row group or a small part that the one before it has read too. A merge has N runs or
   * so; a consolidation as many as there are.
   */
  private static double getsOfChunks(SpineSpec spec, Load load, Bounds bounds) {
    double bytes = load.bytesPerSecond() * Load.MONTH_SECONDS;
    double merges = bytes * bounds.depth() * spec.fanIn();
    double consolidations =
        load.kept() == 1 ? 0 : bytes / (spec.space() - 1) * (bounds.runs() + load.runs());
    return 2 * (merges + consolidations);
  }

  /** Merges a commit: each leaves at least N - 1 runs fewer, and a commit brings r. */
  public static double mergesPerCommit(SpineSpec spec, Load load) {
    return (double) load.runs() / (spec.fanIn() - 1);
  }

  /** PUT-class requests for one run or merge output of so many bytes. */
  static double putsOf(double bytes) {
    double parts = Math.max(1, Math.ceil(bytes / PART_BYTES));
    double each = bytes / parts;
    return parts * (each <= PIECE_BYTES ? 1 : 2 + Math.ceil(each / PIECE_BYTES));
  }

  /** GET-class requests for reading one run of so many bytes. */
  static double getsOf(double bytes) {
    double parts = Math.max(1, Math.ceil(bytes / PART_BYTES));
    double each = bytes / parts;
    return parts * (each < WHOLE_BYTES ? 1 : 2 + Math.ceil(each / GROUP_BYTES));
  }

  /** WriteBound for the load: where nothing is retracted nothing is consolidated either. */
  private static double writes(Load load, Bounds bounds) {
    return load.kept() == 1 ? bounds.depth() + 1 : bounds.writes();
  }

  /**
   * At most everything; else sigma times what stays and the slack below which nothing is
   * consolidated, history past since, and what merges replaced within the last hour.
   */
  private static double stored(SpineSpec spec, Load load, Bounds bounds) {
    double appended = load.appendedBytes();
    double history = load.bytesPerSecond() * load.retainMillis() / 1000;
    double slack = (double) spec.fanIn() * spec.baseBytes();
    double kept =
        load.kept() == 1 ? appended : spec.space() * load.kept() * appended + slack + history;
    double rate = load.bytesPerSecond() * writes(load, bounds);
    double replaced = rate * Math.min(KEEP_SECONDS, load.months() * Load.MONTH_SECONDS);
    return Math.min(appended, kept) + replaced;
  }

  /** The cost of so many shards under the same load each. */
  public Cost times(int shards) {
    return new Cost(
        commits * shards, merges * shards, puts * shards, gets * shards, storedBytes * shards);
  }
}
