package dev.tidemark.bench;

/**
 * What is written, and how much of it.
 *
 * @param name as the tables name it
 * @param envelope append, changelog or upsert
 * @param commits the number of commits
 * @param rowsPerCommit the rows of each
 * @param keys the number of keys
 */
record Workload(String name, Kind envelope, int commits, int rowsPerCommit, long keys)
    implements java.io.Serializable {
  /** How rows are put into the shard. */
  enum Kind {
    APPEND,
    CHANGELOG,
    UPSERT
  }

  /**
   * The workload of a name: {@code w1a, w10a, w1u, w2, w3}, the last three with {@code -upsert} or
   * {@code -changelog} behind it.
   */
  static Workload named(String name) {
    String base = name.contains("-") ? name.substring(0, name.indexOf('-')) : name;
    Kind kind =
        base.endsWith("a") ? Kind.APPEND : name.endsWith("-upsert") ? Kind.UPSERT : Kind.CHANGELOG;
    return switch (base) {
      case "w1a", "w1u" -> new Workload(name, kind, 200, 10_000, 400_000);
      case "w10a" -> new Workload(name, kind, 100, 100_000, 400_000);
      case "w2" -> new Workload(name, kind, 200, 10_000, 80_000);
      case "w3" -> new Workload(name, kind, 1_000, 500, 80_000);
      default ->
          throw new IllegalArgumentException(
              "no workload "
                  + name
                  + ": w1a, w10a, w1u, w2, w3, with -changelog or -upsert behind the last three");
    };
  }
}
