package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcReport;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.job.Amounts;
import dev.tidemark.job.UpkeepKeys;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark gc}: deletes what nobody needs any more. */
@Command(
    name = "gc",
    description =
        "Deletes parts that left, old log and rollups, and orphans, and says what stays and why. Safe beside a running job.")
final class GcCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(names = "--dry-run", description = "Say what would be deleted; delete nothing.")
  private boolean dryRun;

  @Option(
      names = "--keep",
      paramLabel = "TIME",
      description = "Keep parts so long after they left (default: gc.keep, 1 h; at least 10 min).")
  private @Nullable String keep;

  @Option(
      names = "--orphan-age",
      paramLabel = "TIME",
      description =
          "Parts that nobody ever named go when so old (default: gc.orphan-age, 7 days; at least 1 day); more than the oldest checkpoint that may be restored.")
  private @Nullable String orphanAge;

  @Option(
      names = "--unsafe",
      description =
          "Take less than the least for --keep and --orphan-age: only while nobody reads or writes the shard.")
  private boolean unsafe;

  @Option(
      names = "--keep-orphans",
      description = "Leave parts that nobody named: a job is being restored.")
  private boolean keepOrphans;

  GcCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    GcSettings settings = settings();
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      Collector collector = new Collector(shard.log(), Admin.author(context), settings);
      GcReport report = dryRun ? collector.dryRun() : collector.collect(!keepOrphans);
      show(report);
      while (report.more() && !dryRun && report.denied() == null) {
        report = collector.collect(!keepOrphans);
        show(report);
      }
      if (report.denied() != null) {
        throw new CommandException(Exit.STORE, url + ": garbage stays: " + report.denied());
      }
    }
    return Exit.DONE;
  }

  private GcSettings settings() {
    return UpkeepKeys.gc(
        ReaderOptions.options(context, reader.conf),
        keep == null ? "" : keep,
        orphanAge == null ? "" : orphanAge,
        unsafe);
  }

  private void show(GcReport report) {
    if (report.uploadsDenied() != null) {
      context
          .err()
          .println(
              "tidemark: unfinished uploads stay: "
                  + Failures.oneLine(report.uploadsDenied())
                  + "; all else was collected. Give the right, or let a lifecycle rule of the bucket"
                  + " drop them");
    }
    if (reader.json) {
      context.out().line(Json.text(json(report)));
      return;
    }
    String verb = dryRun ? "would delete" : "deleted";
    context
        .out()
        .line(
            String.format(
                Locale.ROOT,
                "%s: %s %s that left (%s), %,d of the log's entries (%s closed), %s, %s, %s, %s",
                url,
                verb,
                Amounts.count(report.partsDeleted(), "part"),
                Amounts.text(report.partBytesDeleted()),
                report.entriesDeleted(),
                Amounts.count(report.blocksClosed(), "block"),
                Amounts.count(report.rollupsDeleted(), "rollup"),
                Amounts.count(report.orphansDeleted(), "orphan"),
                Amounts.count(report.uploadsDropped(), "unfinished upload"),
                Amounts.count(report.holdsDeleted(), "dead hold")));
    if (report.partsKept() > 0) {
      context
          .out()
          .line(
              String.format(
                  Locale.ROOT,
                  "  kept %s (%s) that left within gc.keep",
                  Amounts.count(report.partsKept(), "part"),
                  Amounts.text(report.partBytesKept())));
    }
    report
        .held()
        .forEach(
            (hold, parts) ->
                context.out().line("  kept " + Amounts.count(parts, "part") + " for hold " + hold));
    if (report.batchesDiscarded() > 0) {
      context
          .out()
          .line(
              "  "
                  + Amounts.count(report.batchesDiscarded(), "batch")
                  + " of the retired shard made way");
    }
  }

  private ObjectNode json(GcReport report) {
    ObjectNode node = Json.object();
    node.put("shard", url).put("dryRun", dryRun).put("seqno", report.seqno().value());
    node.put("partsDeleted", report.partsDeleted())
        .put("partBytesDeleted", report.partBytesDeleted())
        .put("partsKept", report.partsKept())
        .put("partBytesKept", report.partBytesKept())
        .put("heldBytes", report.heldBytes());
    ObjectNode held = node.putObject("held");
    report.held().forEach(held::put);
    node.put("blocksClosed", report.blocksClosed())
        .put("entriesDeleted", report.entriesDeleted())
        .put("rollupsDeleted", report.rollupsDeleted())
        .put("orphansDeleted", report.orphansDeleted())
        .put("uploadsDropped", report.uploadsDropped())
        .put("holdsDeleted", report.holdsDeleted())
        .put("batchesDiscarded", report.batchesDiscarded())
        .put("swept", report.swept())
        .put("more", report.more());
    if (report.uploadsDenied() != null) {
      node.put("uploadsDenied", report.uploadsDenied());
    }
    return node;
  }
}
