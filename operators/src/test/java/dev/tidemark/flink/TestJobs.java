package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.message.Update;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;

/** What tests of whole jobs share: a small cluster, its settings, and waiting. */
public final class TestJobs {
  private static final long PATIENCE_SECONDS = 90;

  private TestJobs() {}

  /** Something that is waited for. */
  interface Condition {
    boolean holds() throws Exception;
  }

  /** A cluster of 8 slots. */
  public static MiniClusterExtension cluster() {
    return cluster(new Configuration());
  }

  static MiniClusterExtension cluster(Configuration conf) {
    return cluster(conf, 8);
  }

  /** A cluster of so many slots. */
  public static MiniClusterExtension cluster(Configuration conf, int slots) {
    conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    return new MiniClusterExtension(
        new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(slots)
            .setConfiguration(conf)
            .build());
  }

  /** Restarts at once and often, and takes a checkpoint every so many milliseconds. */
  public static Configuration conf(String checkpoints, long intervalMillis) {
    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints);
    conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(intervalMillis));
    conf.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 30);
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
    conf.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofMillis(20));
    conf.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
    return conf;
  }

  /** Starts a job of one subtask each that appends counted rows to a shard. */
  static JobClient submit(
      StreamExecutionEnvironment env,
      ShardTarget shard,
      SinkSettings settings,
      long rows,
      long pauseMillis)
      throws Exception {
    env.setParallelism(1);
    env.setMaxParallelism(16);
    List<ShardTarget> shards = List.of(shard);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, 1, 16);
    DataStream<Update> updates = CountedRows.stream(env, rows, 1, pauseMillis, shards, slots);
    TidemarkSink.append(updates, shards, settings, slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    return env.executeAsync("counted rows");
  }

  /** Waits until something holds, while the job runs. */
  static void await(String what, JobClient job, Condition condition) throws Exception {
    await(what, job, condition, PATIENCE_SECONDS);
  }

  static void await(String what, JobClient job, Condition condition, long seconds)
      throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!condition.holds()) {
      assertThat(System.nanoTime()).as("time is up: " + what).isLessThan(deadline);
      if (job.getJobStatus().get() == JobStatus.FAILED) {
        job.getJobExecutionResult().get(); // throws what it failed for
      }
      assertThat(job.getJobStatus().get()).isNotIn(JobStatus.FINISHED, JobStatus.FAILED);
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /**
   * What Flink says of a job that failed after its savepoint was made: it is to be gone on from.
   */
  private static final Pattern MADE =
      Pattern.compile("A savepoint has been created at: (\\S+), but");

  /**
   * Stops a job with a savepoint, without draining it; again if it was just being restarted. A job
   * that fails between its savepoint and its end has ended for good, and the savepoint counts.
   */
  static String stop(JobClient job, String folder) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try {
        String savepoint =
            job.stopWithSavepoint(false, folder, SavepointFormatType.CANONICAL).get();
        awaitEnd(job);
        return savepoint;
      } catch (ExecutionException e) {
        Matcher made = MADE.matcher(ExceptionUtils.stringifyException(e));
        if (made.find()) {
          awaitEnd(job);
          return made.group(1);
        }
        assertThat(attempt).as("tries to stop: %s", e).isLessThan(20);
        TimeUnit.MILLISECONDS.sleep(200);
      }
    }
  }

  /** Ends a job that a test has failed with, lest it disturb the next one. */
  static void abandon(JobClient job) {
    try {
      job.cancel().get();
      awaitEnd(job);
    } catch (Exception alreadyOver) {
      // then there is nothing to end
    }
  }

  static void awaitEnd(JobClient job) throws Exception {
    while (!job.getJobStatus().get().isGloballyTerminalState()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
