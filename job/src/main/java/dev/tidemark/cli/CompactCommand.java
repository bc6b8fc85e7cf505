package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.hold.Holds;
import dev.tidemark.job.MergeLimits;
import dev.tidemark.merge.CompactionReport;
import dev.tidemark.shard.ShardState;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark compact}: merges a shard in this process. */
@Command(
    name = "compact",
    description =
        "Merges what the shard's spec asks for, now and in this process, until nothing is wanted. Safe beside a running job: of two who do the same merge one wins. Ctrl-C leaves the shard right.",
    footer = {
      "",
      "merge.memory, merge.chunk-bytes and part.target-bytes of --conf FILE hold here too.",
      "Merges stop at since, and at the least since that a hold keeps; compacting moves neither."
    })
final class CompactCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(
      names = "--full",
      description =
          "Merge all that is there now into one run, whatever the spec; what that writes counts in no bound.")
  private boolean full;

  CompactCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    MergeLimits limits = MergeLimits.of(ReaderOptions.options(context, reader.conf));
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      if (shard.state().retired()) {
        throw new CommandException(
            Exit.NO, url + " is retired: there is nothing to merge; tidemark gc empties it");
      }
      Consumer<String> say = context.progress(reader.json);
      Compaction compaction = new Compaction(context, limits, say);
      compaction.attend();
      CompactionReport report = compaction.run(shard.url(), shard.log(), full);
      List<String> notes = notes(report, new Holds(shard.log()).leastSince());
      if (reader.json) {
        context.out().line(Json.text(json(shard, report, notes, compaction.millis())));
      } else {
        say.accept(
            String.format(
                Locale.ROOT,
                "%s: %s, in %.1f s",
                shard.url(),
                Compaction.text(report),
                compaction.millis() / 1000.0));
        notes.forEach(note -> say.accept("  " + note));
      }
      return report.stopped() ? compaction.signal() : Exit.DONE;
    }
  }

  private static List<String> notes(CompactionReport report, Frontier held) {
    List<String> notes = new ArrayList<>();
    ShardState after = report.after();
    if (!after.spec().merging()) {
      notes.add("merging is off for this shard: nobody merges it but this command");
    }
    if (held.isBefore(after.since())) {
      notes.add(
          "a hold keeps "
              + Times.text(held)
              + " readable: times are merged up to that only (tidemark holds)");
    }
    if (report.stopped()) {
      notes.add("stopped before all was done; the same command goes on");
      if (after.consolidating() != null) {
        notes.add("a merge of the oldest batches is announced: whoever merges next does it");
      }
    }
    return notes;
  }

  private ObjectNode json(
      ReaderOptions.Shard shard, CompactionReport report, List<String> notes, long millis) {
    ObjectNode node = Json.object();
    node.put("shard", shard.url())
        .put("full", full)
        .put("seqno", report.after().seqno().value())
        .put("merges", report.merges())
        .put("promotions", report.promotions())
        .put("lost", report.lost())
        .put("runsBefore", SpineFigures.runs(report.before()))
        .put("runsAfter", SpineFigures.runs(report.after()))
        .put("rowBytesRead", report.bytesRead())
        .put("rowBytesWritten", report.bytesWritten())
        .put("storeBytesRead", shard.store().requests().bytesRead())
        .put("storeBytesWritten", shard.store().requests().bytesWritten())
        .put("millis", millis)
        .put("stopped", report.stopped())
        .put("merging", report.after().spec().merging());
    notes.forEach(node.putArray("notes")::add);
    return node;
  }
}
