package dev.tidemark.job;

import dev.tidemark.flink.ShardTarget;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * The job on a cluster: {@code flink run tidemark-job.jar --conf FILE --key value ...}. What it
 * starts from is Flink's own {@code -s}. With {@code --wait}, and where Flink's client waits by
 * itself (without its {@code -d}), it waits for the job's end, then seals and settles as told.
 */
public final class Main {
  private static final String CONF = "conf";
  private static final String WAIT = "wait";

  private Main() {}

  /** Submits the job. */
  public static void main(String[] args) throws Exception {
    Map<String, String> given = options(args);
    @Nullable String conf = given.remove(CONF);
    boolean wait = given.remove(WAIT) != null;
    Options all = Options.of(conf == null ? null : OptionFile.read(Path.of(conf)), given);
    ClusterRules.checkPlaces(all);
    if (CompactOptions.wanted(all)) {
      compact(CompactOptions.of(all));
      return;
    }
    JobOptions options = JobOptions.of(all);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(TidemarkJob.configuration(options));
    boolean attached = wait || env.getConfiguration().get(DeploymentOptions.ATTACHED);
    boolean settle = ClusterRules.settles(all);
    if (!attached) {
      refuseDetached(settle, options.seal());
    }
    TidemarkJob.build(env, options);
    if (!attached) {
      env.execute(options.name());
      return;
    }
    JobClient job = env.executeAsync(options.name());
    job.getJobExecutionResult().get();
    if (options.seal()) {
      AfterEnd.seal(options);
    }
    if (settle) {
      AfterEnd.settle(options);
    }
  }

  /** A client that doesn't wait learns nothing of the job's end. */
  static void refuseDetached(boolean settle, boolean seal) {
    if (settle) {
      throw new OptionException(
          "settle = true: a client that goes away doesn't know when the job has ended; add --wait,"
              + " or leave it out, and when the job has ended run tidemark compact SHARD");
    }
    if (seal) {
      throw new OptionException(
          "seal = true: a client that goes away doesn't know when the job has ended; add --wait,"
              + " or leave it out, and when the job has ended run tidemark seal SHARD");
    }
  }

  /** The shards are those that are there now: submit it anew for others. */
  private static void compact(CompactOptions options) throws Exception {
    List<ShardTarget> shards = options.find();
    if (shards.isEmpty()) {
      throw new OptionException("there is no shard in " + options.warehouse() + " to merge");
    }
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(TidemarkJob.configuration(options));
    TidemarkJob.buildCompact(env, options, shards);
    env.execute(options.name());
  }

  private static Map<String, String> options(String[] args) {
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i < args.length; i++) {
      String word = args[i];
      int equals = word.indexOf('=');
      if (!word.startsWith("--")) {
        throw new OptionException(word + ": options are --key value");
      }
      if (word.equals("--" + WAIT)) {
        options.put(WAIT, "");
      } else if (equals >= 0) {
        options.put(word.substring(2, equals), word.substring(equals + 1));
      } else if (i + 1 < args.length) {
        options.put(word.substring(2), args[++i]);
      } else {
        throw new OptionException(word + " has no value; write " + word + " VALUE");
      }
    }
    return options;
  }
}
