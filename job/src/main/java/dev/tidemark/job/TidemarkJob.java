package dev.tidemark.job;

import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.TidemarkSink;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.Updates;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The job itself: source, decoder and sink, put together as the options say. */
public final class TidemarkJob {
  /**
   * The number of key groups, fixed at a job's first start: the most that it can be rescaled to.
   */
  public static final int MAX_PARALLELISM = 128;

  /**
   * What fails at every try ends the job after seconds; what fails now and then in a year does not.
   */
  private static final int RESTARTS = 5;

  private static final Duration RESTARTS_WITHIN = Duration.ofMinutes(10);
  private static final Duration RESTART_DELAY = Duration.ofSeconds(1);

  private TidemarkJob() {}

  /** Flink's configuration for a job: Tidemark's defaults, then the user's {@code flink.*}. */
  public static Configuration configuration(JobFrame options) {
    Configuration conf = new Configuration();
    JobOptions.Checkpoints checkpoints = options.checkpoints();
    conf.set(PipelineOptions.NAME, options.name());
    conf.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    conf.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, checkpoints.timeout());
    conf.set(RestartStrategyOptions.RESTART_STRATEGY, "failure-rate");
    conf.set(
        RestartStrategyOptions.RESTART_STRATEGY_FAILURE_RATE_MAX_FAILURES_PER_INTERVAL, RESTARTS);
    conf.set(
        RestartStrategyOptions.RESTART_STRATEGY_FAILURE_RATE_FAILURE_RATE_INTERVAL,
        RESTARTS_WITHIN);
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FAILURE_RATE_DELAY, RESTART_DELAY);
    conf.set(PipelineOptions.OBJECT_REUSE, true);
    conf.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
    conf.set(TaskManagerOptions.NUM_TASK_SLOTS, slots(options));
    options.flink().forEach(conf::setString);
    if (checkpoints.interval() != null) {
      conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, checkpoints.interval());
    }
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, options.writerDirectory());
    conf.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, options.savepointDirectory());
    conf.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    conf.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
    return conf;
  }

  /** Slots for all subtasks: the rows' and, in a group of their own, the merges'. */
  public static int slots(JobFrame options) {
    return Math.max(options.parallelism(), options.sink().writeParallelism())
        + (options.sink().merging() ? options.sink().mergeParallelism() : 0);
  }

  /**
   * Builds the topology.
   *
   * @return what becomes durable, shard by shard
   * @throws OptionException when source and shards don't go together
   */
  public static DataStream<ShardCommit> build(StreamExecutionEnvironment env, JobOptions options) {
    env.setParallelism(options.parallelism());
    int keyGroups = env.getMaxParallelism() > 0 ? env.getMaxParallelism() : MAX_PARALLELISM;
    env.setMaxParallelism(keyGroups);
    try {
      SlotKeys slots =
          TidemarkSink.slotKeys(options.shards(), options.sink(), options.parallelism(), keyGroups);
      StartSettings start = new StartSettings(options.sink().start(), options.store());
      DataStream<Update> updates = updates(env, options, options.source(), slots, start);
      return TidemarkSink.append(updates, options.shards(), options.sink(), slots);
    } catch (IllegalArgumentException e) {
      throw new OptionException(String.valueOf(e.getMessage()));
    }
  }

  /** Builds the topology of a job that merges these shards. */
  public static void buildCompact(
      StreamExecutionEnvironment env, CompactOptions options, List<ShardTarget> shards) {
    env.setParallelism(options.parallelism());
    env.setMaxParallelism(MAX_PARALLELISM);
    TidemarkSink.compact(env, shards, options.sink());
  }

  /**
   * Finds out, without running anything, whether the topology can be built.
   *
   * @throws OptionException naming the option and the mend, for a file that isn't there, say
   */
  public static void check(JobOptions options) {
    build(StreamExecutionEnvironment.createLocalEnvironment(configuration(options)), options);
  }

  /** The input side alone. */
  private static DataStream<Update> updates(
      StreamExecutionEnvironment env,
      JobOptions options,
      SourceSettings source,
      SlotKeys slots,
      StartSettings start) {
    return Updates.of(
        env, source, options.decode(), options.watermarks(), options.shards(), slots, start);
  }

  /**
   * The first updates of the input as far as it is there now, read by a small job that writes
   * nothing.
   */
  public static List<Update> firstUpdates(JobOptions options, int most) throws Exception {
    Configuration conf = new Configuration();
    conf.set(PipelineOptions.NAME, options.name() + " (check)");
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, conf);
    env.setMaxParallelism(MAX_PARALLELISM);
    try {
      SlotKeys slots = TidemarkSink.slotKeys(options.shards(), options.sink(), 1, MAX_PARALLELISM);
      return updates(env, options, options.source().untilNow(), slots, StartSettings.REFUSE)
          .executeAndCollect(most);
    } catch (IllegalArgumentException e) {
      throw new OptionException(String.valueOf(e.getMessage()));
    }
  }
}
