package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.job.Amounts;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.MergeLimits;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.CompactionReport;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * What it took to bring the shards of a job that has ended to rest: every wanted merge done.
 *
 * @param reports one a shard that was reached
 * @param code the exit code: 0, or that of the signal that stopped it
 * @param millis how long it took
 */
record Settlement(List<CompactionReport> reports, int code, long millis) {
  /** Brings them to rest, one after another; where merging is off nothing is wanted. */
  static Settlement reach(JobOptions options, Context context, Consumer<String> say)
      throws IOException {
    Compaction compaction =
        new Compaction(
            context, MergeLimits.of(options.sink()), line -> say.accept(line + "  (settling)"));
    compaction.attend();
    StoreSettings settings = options.store();
    List<CompactionReport> reports = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      if (compaction.signal() == 0) {
        try (ObjectStore store = Stores.open(shard.url(), settings)) {
          ShardLog log = new ShardLog(store);
          if (log.refresh().exists() && log.known().spec().merging()) {
            reports.add(compaction.run(shard.name(), log, false));
          }
        }
      }
    }
    return new Settlement(List.copyOf(reports), compaction.signal(), compaction.millis());
  }

  /** The line of the summary. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%s: %s, runs %d -> %d, in %.1f s",
        code == 0 ? "settled" : "stopped while settling; tidemark compact goes on",
        Amounts.count(reports.stream().mapToLong(CompactionReport::merges).sum(), "merge"),
        runsBefore(),
        runsAfter(),
        millis / 1000.0);
  }

  ObjectNode json() {
    return Json.object()
        .put("merges", reports.stream().mapToLong(CompactionReport::merges).sum())
        .put("runsBefore", runsBefore())
        .put("runsAfter", runsAfter())
        .put("millis", millis)
        .put("stopped", code != 0);
  }

  private long runsBefore() {
    return reports.stream().mapToLong(report -> SpineFigures.runs(report.before())).sum();
  }

  private long runsAfter() {
    return reports.stream().mapToLong(report -> SpineFigures.runs(report.after())).sum();
  }
}
