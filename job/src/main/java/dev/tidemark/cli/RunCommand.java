package dev.tidemark.cli;

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
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tidemark run}: the job, in this process. */
@Command(
    name = "run",
    description =
        "Runs the job on an embedded Flink, with its web UI on 127.0.0.1, or on a cluster.",
    footer = {
      "",
      "Any option of conf/reference.md (tidemark reference) goes as --KEY VALUE: --shard.name"
          + " orders, say.",
      "Ctrl-C stops with a savepoint and says how to go on; a second one ends at once. A job on a"
          + " cluster goes on.",
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

  @Option(
      names = "--target",
      paramLabel = "HOST:PORT",
      description = "Submit the job to the Flink cluster whose web UI is there, and leave it.")
  private @Nullable String target;

  @Option(
      names = "--wait",
      description = "With --target: stay until the job has ended, as without --target.")
  private boolean wait;

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
    if (target == null && wait) {
      throw new CommandException(
          Exit.USAGE,
          "--wait is for --target: a job in this process is waited for anyway; leave it out");
    }
    @Nullable TargetAddress address = target == null ? null : TargetAddress.of(target);
    Options all = ReaderOptions.options(context, conf);
    if (address != null) {
      return new ClusterRun(context, address, wait, check, json).run(all);
    }
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
    Consumer<String> say = context.progress(json);
    try (ShardWatch watch =
        new ShardWatch(options.shards(), options.store(), UnaryOperator.identity())) {
      watch.begin();
      EmbeddedJob job = EmbeddedJob.start(options, from);
      say.accept("web UI " + job.ui() + "   checkpoints " + options.writerDirectory());
      from.path().ifPresent(path -> say.accept("going on from " + path));
      RunOutcome outcome = new JobRun(options, job, watch, context, say).attend();
      boolean done = outcome.code() == Exit.DONE;
      return RunSummary.afterEnd(
              options,
              outcome,
              done && options.seal(),
              done && options.settle(),
              watch,
              context,
              say)
          .print(context.out(), watch, json);
    }
  }

  private int compact(CompactOptions options) throws Exception {
    reach(options);
    Consumer<String> say = context.progress(json);
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
}
