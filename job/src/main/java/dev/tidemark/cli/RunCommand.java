package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.job.AfterEnd;
import dev.tidemark.job.CompactOptions;
import dev.tidemark.job.JobFrame;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.Options;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tidemark run}: the job, in this process. */
@Command(
    name = "run",
    description = "Runs the job on an embedded Flink, with its web UI on 127.0.0.1.",
    footer = {
      "",
      "Any option of conf/reference.md (tidemark reference) goes as --KEY VALUE: --shard.name"
          + " orders, say.",
      "Ctrl-C stops with a savepoint and says how to go on; a second one ends at once.",
      "--role compact merges what jobs with --merge elsewhere write; it needs no source."
    })
final class RunCommand implements Callable<Integer> {
  private final Context context;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Options in YAML; else TIDEMARK_CONF names it.")
  private @Nullable Path conf;

  @Option(
      names = "--check",
      description = "Check the options, reach the store, read ten rows; write nothing.")
  private boolean check;

  @Option(names = "--json", description = "The summary as one JSON document.")
  private boolean json;

  @Option(names = "--debug", description = "A stack trace with an error.")
  boolean debug;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  RunCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws Exception {
    Options all = ReaderOptions.options(context, conf);
    if (CompactOptions.wanted(all)) {
      return compact(CompactOptions.of(all));
    }
    JobOptions options = JobOptions.of(all);
    TidemarkJob.check(options);
    if (check) {
      return new RunCheck(options, context).run(json);
    }
    StartPoint.peek(options).check(options);
    reach(options);
    StartPoint from = StartPoint.find(options);
    JobLog.to(options);
    Consumer<String> say = json ? context.err()::println : this::line;
    try (ShardWatch watch =
        new ShardWatch(options.shards(), options.store(), UnaryOperator.identity())) {
      watch.begin();
      EmbeddedJob job = EmbeddedJob.start(options, from);
      say.accept("web UI " + job.ui() + "   checkpoints " + options.writerDirectory());
      from.path().ifPresent(path -> say.accept("going on from " + path));
      RunOutcome outcome = new JobRun(options, job, watch, context, say).attend();
      Optional<Settlement> settled = Optional.empty();
      List<String> sealed = List.of();
      if (outcome.code() == Exit.DONE && options.seal()) {
        sealed = AfterEnd.seal(options);
        watch.finish();
      }
      if (outcome.code() == Exit.DONE && options.settle()) {
        settled = Optional.of(Settlement.reach(options, context, say));
        watch.finish();
      }
      return finish(options, outcome, sealed, settled, watch);
    }
  }

  private int compact(CompactOptions options) throws Exception {
    reach(options);
    Consumer<String> say = json ? context.err()::println : this::line;
    if (check) {
      List<String> names = options.find().stream().map(shard -> shard.name()).toList();
      say.accept(
          "the options are right and the store is reached; "
              + (names.isEmpty()
                  ? "there is no shard yet"
                  : "shards: " + String.join(", ", names)));
      return Exit.DONE;
    }
    JobLog.to(options);
    return new CompactRun(options, context, say).run();
  }

  private void line(String text) {
    context.out().line(text);
    context.out().flush();
  }

  /** Finds out in seconds whether the store will do. */
  static void reach(JobFrame options) throws IOException {
    try (ObjectStore store = open(options)) {
      Stores.probe(store);
    }
  }

  static ObjectStore open(JobFrame options) {
    try {
      return Stores.open(options.warehouse(), options.store());
    } catch (IllegalArgumentException e) {
      throw new CommandException(Exit.USAGE, String.valueOf(e.getMessage()), e);
    }
  }

  private int finish(
      JobOptions options,
      RunOutcome outcome,
      List<String> sealed,
      Optional<Settlement> settled,
      ShardWatch watch) {
    Identity identity =
        Identity.of(
            outcome.counts(), options.shards().stream().map(shard -> shard.name()).toList());
    if (json) {
      ObjectNode node = json(outcome, identity, watch);
      if (!sealed.isEmpty()) {
        sealed.forEach(node.putArray("sealed")::add);
      }
      settled.ifPresent(settlement -> node.set("settle", settlement.json()));
      context.out().line(Json.text(node));
    } else {
      TextTable table = new TextTable();
      table.row("shard", "rows", "errors", "upper", "runs/bound", "write amp/bound", "version");
      for (ShardWatch.Followed shard : watch.shards()) {
        if (shard.state().exists()) {
          table.row(
              shard.name(),
              LsCommand.rows(shard.state()),
              LsCommand.errors(shard.state()),
              Times.text(shard.state().upper()),
              runs(shard.figures()),
              writes(shard.figures()),
              shard.state().seqno().value());
        }
      }
      context.out().line("");
      table.print(context.out());
      context
          .out()
          .line(identity.line() + String.format(Locale.ROOT, ", in %d s", outcome.millis() / 1000));
      if (!sealed.isEmpty()) {
        context.out().line("sealed: " + String.join(", ", sealed));
      }
      settled.ifPresent(settlement -> context.out().line(settlement.text()));
      if (!outcome.whole()) {
        context.out().line(Identity.PARTLY_KNOWN);
      }
      outcome
          .savepoint()
          .ifPresent(
              path -> {
                context.out().line("savepoint " + path);
                context.out().line("go on with the same command, or --restore " + path);
              });
    }
    if (outcome.code() == Exit.DONE && outcome.whole() && !identity.holds()) {
      throw new CommandException(Exit.JOB, "records have gone missing: " + identity.line());
    }
    return settled.map(Settlement::code).orElse(outcome.code());
  }

  private static ObjectNode json(RunOutcome outcome, Identity identity, ShardWatch watch) {
    ObjectNode node = Json.object();
    node.put("read", identity.read())
        .put("stored", identity.stored())
        .put("error", identity.errors());
    node.put("late", identity.late())
        .put("replayed", identity.replayed())
        .put("ignored", identity.ignored());
    node.put("countsWhole", outcome.whole()).put("millis", outcome.millis());
    Optional<String> savepoint = outcome.savepoint();
    savepoint.ifPresent(path -> node.put("savepoint", path));
    ArrayNode shards = node.putArray("shards");
    List<ShardWatch.Followed> followed = watch.shards();
    for (ShardWatch.Followed shard : followed) {
      if (shard.state().exists()) {
        ObjectNode one = shards.addObject().put("shard", shard.name());
        one.put("rows", LsCommand.rows(shard.state()))
            .put("errors", LsCommand.errors(shard.state()));
        Json.put(one, "upper", shard.state().upper());
        one.put("seqno", shard.state().seqno().value());
      }
    }
    return node;
  }

  static String runs(SpineFigures figures) {
    return figures.runs() + "/" + figures.runsBound();
  }

  static String writes(SpineFigures figures) {
    return (figures.writeAmplification().isPresent()
            ? ShardPortrait.oneDigit(figures.writeAmplification().getAsDouble())
            : "?")
        + "/"
        + ShardPortrait.oneDigit(figures.writeBound());
  }
}
