package dev.tidemark.cli;

import dev.tidemark.flink.InputCounts;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What became of the records read: each ends in exactly one of five.
 *
 * @param read records read
 * @param stored rows stored
 * @param errors error rows
 * @param late dropped as late
 * @param replayed there already
 * @param ignored nothing to store
 */
record Identity(long read, long stored, long errors, long late, long replayed, long ignored) {

  /** The sums over the shards of a job. */
  static Identity of(Map<String, Long> counts, List<String> shards) {
    return new Identity(
        counts.getOrDefault(InputCounts.READ, 0L),
        sum(counts, shards, InputCounts.Fate.STORED),
        sum(counts, shards, InputCounts.Fate.ERROR),
        sum(counts, shards, InputCounts.Fate.LATE),
        sum(counts, shards, InputCounts.Fate.REPLAYED),
        sum(counts, shards, InputCounts.Fate.IGNORED)
            + counts.getOrDefault(InputCounts.IGNORED, 0L));
  }

  private static long sum(Map<String, Long> counts, List<String> shards, InputCounts.Fate fate) {
    return shards.stream()
        .mapToLong(shard -> counts.getOrDefault(InputCounts.name(shard, fate), 0L))
        .sum();
  }

  /** Whether every record has met its fate. */
  boolean holds() {
    return read == stored + errors + late + replayed + ignored;
  }

  /** What to say where a restart has cost some of the counts. */
  static final String PARTLY_KNOWN =
      "the job was restarted after it had read all of its input: these counts are as they were last"
          + " seen; what is durable is complete (tidemark verify)";

  /** The line of the summary, without the time. */
  String line() {
    return String.format(
        Locale.ROOT,
        "%,d records read %s %,d stored + %,d error + %,d late + %,d replayed + %,d ignored",
        read,
        holds() ? "=" : "IS NOT",
        stored,
        errors,
        late,
        replayed,
        ignored);
  }
}
