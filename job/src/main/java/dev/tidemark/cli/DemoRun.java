package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.StartPoint;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/** The demo once its server runs: the job, then the proof. */
final class DemoRun {
  private final JobOptions options;
  private final Path root;
  private final Path folder;
  private final Path written;
  private final Context context;
  private final boolean json;
  private final Consumer<String> say;

  /**
   * A run.
   *
   * @param root the project's folder
   * @param folder where everything lies
   * @param written the same as the user wrote it, for the commands to look further
   */
  DemoRun(JobOptions options, Path root, Path folder, Path written, Context context, boolean json) {
    this.options = options;
    this.root = root;
    this.folder = folder;
    this.written = written;
    this.context = context;
    this.json = json;
    this.say = context.progress(json);
  }

  int run() throws Exception {
    StartPoint from = StartPoint.find(options);
    if (from.path().isEmpty() && hasData()) {
      say.accept("the job has ended here before: the shards are whole; comparing them");
      return compare(Optional.empty());
    }
    try (ShardWatch watch = new ShardWatch(options.shards(), options.store(), this::onDisk)) {
      watch.begin();
      EmbeddedJob job = EmbeddedJob.start(options, from);
      say.accept("web UI " + job.ui() + ", log " + folder.resolve("logs/demo.log"));
      say.accept(
          from.path()
              .map(path -> "going on from " + path)
              .orElse("feeding 149,271 recorded events of four tables"));
      RunOutcome outcome = new JobRun(options, job, watch, context, say).attend();
      if (outcome.code() != Exit.DONE) {
        outcome.savepoint().ifPresent(path -> say.accept("savepoint " + path));
        say.accept("go on with: scripts/tidemark demo --dir " + written);
        return outcome.code();
      }
      Settlement settled = Settlement.reach(options, context, say);
      say.accept(settled.text());
      return settled.code() == Exit.DONE ? compare(Optional.of(outcome)) : settled.code();
    }
  }

  /** Whether a shard has rows already, though there is no checkpoint: then the job has ended. */
  private boolean hasData() throws IOException {
    for (ShardTarget shard : options.shards()) {
      try (ObjectStore store = Stores.open(shard.url(), options.store())) {
        ShardState state = new ShardLog(store).refresh();
        if (state.exists() && !state.upper().isMinimum()) {
          return true;
        }
      }
    }
    return false;
  }

  /** The server keeps plain files: the log is read there, so that requests count the job's only. */
  private String onDisk(String url) {
    return folder.resolve("s3").resolve(url.substring("s3://".length())).toString();
  }

  private int compare(Optional<RunOutcome> outcome) throws IOException {
    Prices prices = Prices.read(root.resolve("conf/prices.yaml"));
    TextTable table = new TextTable();
    table.row(
        "shard",
        "rows",
        "read-back",
        "source",
        "runs/bound",
        "write amp/bound",
        "S3 requests",
        "cost");
    ObjectNode document = Json.object();
    ArrayNode documents = document.putArray("shards");
    List<String> differences = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      try (ObjectStore store = Stores.open(shard.url(), options.store())) {
        ShardLog log = new ShardLog(store);
        ShardState state = log.refresh();
        TableComparison comparison =
            TableComparison.of(
                new ShardReader(log),
                state,
                root.resolve("demo/final." + shard.name() + ".csv.gz"));
        SpineFigures figures = SpineFigures.of(state);
        long puts =
            ShardHandles.requests(shard.url()).stream().mapToLong(r -> r.puts() + r.lists()).sum();
        long gets = ShardHandles.requests(shard.url()).stream().mapToLong(r -> r.gets()).sum();
        String verdict = comparison.equal() ? "equal" : comparison.different() + " differ";
        table.row(
            shard.name(),
            comparison.rows(),
            verdict,
            "pg COPY",
            RunSummary.runs(figures),
            RunSummary.writes(figures),
            outcome.isEmpty() ? "-" : String.format(Locale.ROOT, "%,d PUT, %,d GET", puts, gets),
            outcome.isEmpty()
                ? "-"
                : String.format(Locale.ROOT, "%.4f $", prices.requests(puts, gets)));
        documents
            .addObject()
            .put("shard", shard.name())
            .put("rows", comparison.rows())
            .put("equal", comparison.equal())
            .put("different", comparison.different())
            .put("runs", figures.runs())
            .put("runsBound", figures.runsBound())
            .put("writeAmplification", figures.writeAmplification().orElse(Double.NaN))
            .put("writeAmplificationBound", figures.writeBound())
            .put("puts", puts)
            .put("gets", gets);
        if (!comparison.equal()) {
          differences.add(shard.name() + ":");
          differences.addAll(comparison.differences());
        }
      }
    }
    return report(outcome, table, document, differences);
  }

  private int report(
      Optional<RunOutcome> outcome,
      TextTable table,
      ObjectNode document,
      List<String> differences) {
    Optional<Identity> identity =
        outcome.map(
            ended ->
                Identity.of(ended.counts(), options.shards().stream().map(s -> s.name()).toList()));
    boolean whole = outcome.map(RunOutcome::whole).orElse(false);
    boolean good = differences.isEmpty() && (!whole || identity.map(Identity::holds).orElse(true));
    if (json) {
      document.put("equal", differences.isEmpty());
      identity.ifPresent(
          i ->
              document
                  .put("read", i.read())
                  .put("stored", i.stored())
                  .put("error", i.errors())
                  .put("ignored", i.ignored()));
      outcome.ifPresent(ended -> document.put("millis", ended.millis()));
      context.out().line(Json.text(document));
      return good ? Exit.DONE : Exit.NO;
    }
    say.accept("");
    table.print(context.out());
    differences.forEach(context.out()::line);
    identity.ifPresent(
        i ->
            context
                .out()
                .line(
                    i.line()
                        + String.format(
                            Locale.ROOT, ", in %d s", (outcome.get().millis() + 500) / 1000)));
    Path shard = written.resolve("s3/" + DemoCommand.BUCKET + "/pgbench_accounts");
    Path history = written.resolve("s3/" + DemoCommand.BUCKET + "/pgbench_history");
    say.accept("");
    say.accept("Look further:  scripts/tidemark inspect " + shard);
    say.accept(
        "               scripts/tidemark snapshot "
            + shard
            + " --as-of 2026-11-29T23:47:20Z --limit 5");
    say.accept("               scripts/tidemark log " + history);
    say.accept("               scripts/tidemark verify --deep " + shard);
    return good ? Exit.DONE : Exit.NO;
  }
}
