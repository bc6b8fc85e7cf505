package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.job.ClusterRules;
import dev.tidemark.job.CompactOptions;
import dev.tidemark.job.JobFrame;
import dev.tidemark.job.JobOptions;
import dev.tidemark.job.Options;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * {@code run --target}: submits the job to a Flink cluster that runs already. Without {@code
 * --wait} it stays until all of the job runs, or says why it doesn't; with it, until the job has
 * ended.
 */
final class ClusterRun {
  private static final long LOOK_MILLIS = 250;

  /** How long a job may take to run before that is worth a word. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Context context;
  private final TargetAddress target;
  private final boolean wait;
  private final boolean check;
  private final boolean json;
  private final Consumer<String> say;

  ClusterRun(Context context, TargetAddress target, boolean wait, boolean check, boolean json) {
    this.context = context;
    this.target = target;
    this.wait = wait;
    this.check = check;
    this.json = json;
    this.say = context.progress(json);
  }

  /** Submits what the options ask for; the exit code. */
  int run(Options all) throws Exception {
    ClusterRules.check(all, wait);
    if (CompactOptions.wanted(all)) {
      return compact(CompactOptions.of(all));
    }
    JobOptions options = JobOptions.of(all);
    if (!target.isHere()) {
      ClusterRules.refuseLocalRestore(options, target.toString());
    }
    TidemarkJob.check(options);
    Path jar = JobJar.find();
    try (FlinkCluster cluster = FlinkCluster.at(target, options.flink())) {
      reach(cluster, options);
      if (check) {
        return new RunCheck(options, context).run(json);
      }
      StartPoint.peek(options).check(options);
      RunCommand.reach(options);
      StartPoint from = StartPoint.find(options);
      try (ShardWatch watch = ShardWatch.elsewhere(options.shards(), options.store())) {
        watch.begin();
        ClusterJob job =
            ClusterJob.submit(cluster, options, from, jar, env -> TidemarkJob.build(env, options));
        List<String> folders = ClusterRules.foldersAndFiles(options);
        tell(job, options, from, folders);
        return wait
            ? attend(options, job, watch, ClusterRules.settles(all))
            : start(job, options, from, folders, watch::others);
      }
    }
  }

  private int compact(CompactOptions options) throws Exception {
    Path jar = JobJar.find();
    List<ShardTarget> shards = options.find();
    if (shards.isEmpty()) {
      throw new CommandException(
          Exit.USAGE, "there is no shard in " + options.warehouse() + " to merge");
    }
    try (FlinkCluster cluster = FlinkCluster.at(target, options.flink())) {
      reach(cluster, options);
      RunCommand.reach(options);
      if (check) {
        say.accept("the options are right and the store is reached");
        return Exit.DONE;
      }
      StartPoint from = new StartPoint(Optional.empty(), false);
      Consumer<StreamExecutionEnvironment> build =
          env -> TidemarkJob.buildCompact(env, options, shards);
      ClusterJob job = ClusterJob.submit(cluster, options, from, jar, build);
      List<String> folders = ClusterRules.folders(options);
      tell(job, options, from, folders);
      return start(job, options, from, folders, Optional::empty);
    }
  }

  /** Finds out in seconds whether the cluster will do. */
  private void reach(FlinkCluster cluster, JobFrame options) throws InterruptedException {
    FlinkCluster.Facts facts = cluster.facts();
    int slots = TidemarkJob.slots(options);
    String own = EnvironmentInformation.getVersion();
    if (!series(facts.version()).equals(series(own))) {
      throw new CommandException(
          Exit.STORE,
          "the cluster at "
              + target
              + " runs Flink "
              + facts.version()
              + ", and this is built for "
              + own
              + ": take a cluster of Flink "
              + series(own));
    }
    if (facts.slots() < slots && !cluster.adapts()) {
      throw new CommandException(
          Exit.STORE,
          "the cluster at "
              + target
              + " has "
              + facts.slots()
              + " slots in all, and the job takes "
              + slots
              + ": start more task managers, or lower parallelism, write.parallelism or"
              + " merge.parallelism");
    }
    Optional<String> namesake = cluster.running(options.name());
    if (namesake.isPresent()) {
      throw new CommandException(
          Exit.USAGE,
          "a job named "
              + options.name()
              + " runs on the cluster already ("
              + cluster.page("/#/job/running/" + namesake.get())
              + "): stop it first, or give this one a job.name of its own");
    }
    say.accept(
        "Flink "
            + facts.version()
            + " at "
            + cluster.page("")
            + ", slots free "
            + facts.free()
            + " of "
            + facts.slots()
            + ", the job takes "
            + slots
            + (facts.free() < slots ? ": it waits until there are enough" : ""));
  }

  /** Versions of one series understand each other. */
  private static String series(String version) {
    return version.replaceFirst("^([0-9]+\\.[0-9]+).*", "$1");
  }

  private void tell(ClusterJob job, JobFrame options, StartPoint from, List<String> folders) {
    say.accept("job " + job.id() + "   " + job.page());
    from.path().ifPresent(path -> say.accept("going on from " + path));
    say.accept("checkpoints " + options.writerDirectory());
    if (!folders.isEmpty()) {
      say.accept(
          "these are folders: every machine of the cluster must see the same under the same path: "
              + String.join(", ", folders));
    }
    say.accept("stop it with a savepoint: " + stopCommand(job, options));
  }

  private String stopCommand(ClusterJob job, JobFrame options) {
    return "flink stop -m " + target + " -p " + options.savepointDirectory() + " " + job.id();
  }

  /** Waits until all of it runs, but not for ever. */
  private int start(
      ClusterJob job,
      JobFrame options,
      StartPoint from,
      List<String> folders,
      Supplier<Optional<String>> others)
      throws InterruptedException {
    long begun = System.nanoTime();
    boolean ended = false;
    Optional<String> waiting = Optional.of("starting");
    try {
      while (!ended && waiting.isPresent() && System.nanoTime() - begun < PATIENCE_NANOS) {
        ended = job.await(LOOK_MILLIS);
        waiting = ended ? Optional.empty() : job.waiting();
      }
    } catch (ExecutionException e) {
      throw JobFailure.of(e, others);
    }
    String state =
        ended
            ? "the job has ended"
            : waiting.map(why -> "the job doesn't run yet: " + why).orElse("the job runs");
    say.accept(state);
    if (json) {
      ObjectNode node =
          Json.object()
              .put("job", job.id())
              .put("page", job.page())
              .put("running", waiting.isEmpty() && !ended)
              .put("state", state)
              .put("checkpoints", options.writerDirectory())
              .put("stop", stopCommand(job, options));
      from.path().ifPresent(path -> node.put("from", path));
      folders.forEach(node.putArray("folders")::add);
      context.out().line(Json.text(node));
    }
    return Exit.DONE;
  }

  private int attend(JobOptions options, ClusterJob job, ShardWatch watch, boolean settle)
      throws Exception {
    RunOutcome outcome = new JobRun(options, job, watch, context, say).attend();
    if (!job.hasEnded()) {
      context
          .err()
          .println(
              "tidemark: no longer attended, the job goes on: "
                  + job.page()
                  + (settle || options.seal() ? " (and won't be sealed or settled)" : ""));
      context.err().println("tidemark: stop it with a savepoint: " + stopCommand(job, options));
      return outcome.code();
    }
    boolean whole = outcome.code() == Exit.DONE && outcome.savepoint().isEmpty();
    return RunSummary.afterEnd(
            options, outcome, whole && options.seal(), whole && settle, watch, context, say)
        .print(context.out(), watch, json);
  }
}
