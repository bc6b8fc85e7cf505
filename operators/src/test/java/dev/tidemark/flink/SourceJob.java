package dev.tidemark.flink;

import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.source.SourceSettings;
import dev.tidemark.flink.source.Updates;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/** A whole job from a source to shards in memory, for the tests of sources: JSON unless told. */
final class SourceJob {
  static final Schema SCHEMA =
      Schema.parse(
          "k STRING NOT NULL, ts BIGINT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);

  private static final List<JobClient> STARTED = new ArrayList<>();

  private final Path folder;
  private final String store = UUID.randomUUID().toString();
  final List<ShardTarget> shards = new ArrayList<>();
  final List<TableMapping> tables = new ArrayList<>();
  private final SourceSettings source;
  SourceSettings.Watermarks watermarks = new SourceSettings.Watermarks(Duration.ZERO, null);
  Format format = Format.JSON;
  long maxAheadMillis = Long.MAX_VALUE;
  int parallelism = 1;
  long checkpointMillis = 100;
  int restarts = 30;
  long patienceSeconds = 90;
  String from;
  Breaks breaks;

  /** Something between source and shards that breaks the job when it likes. */
  interface Breaks extends java.io.Serializable {
    void row() throws Exception;
  }

  SourceJob(Path folder, SourceSettings source) {
    this.folder = folder;
    this.source = source;
  }

  /** One shard, all records are its. */
  static SourceJob of(Path folder, SourceSettings source, Envelope envelope, String timeColumn) {
    SourceJob job = new SourceJob(folder, source);
    job.table("rows", null, envelope, timeColumn);
    return job;
  }

  SourceJob table(String name, TableMapping.Match match, Envelope envelope, String timeColumn) {
    tables.add(new TableMapping(shards.size(), match, envelope, timeColumn));
    shards.add(
        new ShardTarget("memory:" + store + "/" + name, name, SCHEMA, SpineSpec.DEFAULT, null));
    return this;
  }

  JobClient start() throws Exception {
    Configuration conf = TestJobs.conf(folder.toUri() + "ckpt", Math.max(10, checkpointMillis));
    if (checkpointMillis == 0) {
      conf.removeConfig(CheckpointingOptions.CHECKPOINTING_INTERVAL);
    }
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, restarts);
    if (from != null) {
      conf.set(StateRecoveryOptions.SAVEPOINT_PATH, from);
    }
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(parallelism);
    env.setMaxParallelism(16);
    SinkSettings settings = TestShards.settings(1, 8 << 20, 64 << 10);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, parallelism, 16);
    DecodeSettings decode =
        new DecodeSettings(
            format,
            DebeziumSettings.DEFAULT,
            tables,
            true,
            false,
            Long.MAX_VALUE - 1,
            maxAheadMillis);
    DataStream<Update> updates =
        Updates.of(
            env,
            source,
            decode,
            watermarks,
            shards,
            slots,
            new StartSettings(StartMode.REFUSE, StoreSettings.DEFAULT));
    if (breaks != null) {
      Breaks breaking = breaks;
      updates =
          updates
              .map(
                  row -> {
                    breaking.row();
                    return row;
                  })
              .returns(Update.TYPE)
              .uid("breaks");
    }
    TidemarkSink.append(updates, shards, settings, slots).sinkTo(new DiscardingSink<>()).uid("out");
    JobClient job = env.executeAsync("source");
    STARTED.add(job);
    return job;
  }

  /** Ends all jobs that a test has left running. */
  static void cancelAll() throws Exception {
    for (JobClient job : STARTED) {
      if (!job.getJobStatus().get().isGloballyTerminalState()) {
        cancel(job);
      }
    }
    STARTED.clear();
  }

  /** Runs a job whose input ends. */
  Map<String, Object> run() throws Exception {
    return start().getJobExecutionResult().get(180, TimeUnit.SECONDS).getAllAccumulatorResults();
  }

  /** Waits until something holds, while the job runs. */
  void await(String what, JobClient job, TestJobs.Condition condition) throws Exception {
    TestJobs.await(what, job, condition, patienceSeconds);
  }

  /** Stops a job and takes its savepoint as the next start. */
  void stop(JobClient job) throws Exception {
    from =
        job.stopWithSavepoint(false, folder.toUri() + "savepoints", SavepointFormatType.NATIVE)
            .get(90, TimeUnit.SECONDS);
    TestJobs.awaitEnd(job);
  }

  static void cancel(JobClient job) throws Exception {
    job.cancel().get(90, TimeUnit.SECONDS);
    TestJobs.awaitEnd(job);
  }

  ShardState state() throws Exception {
    return TestShards.state(shards.get(0));
  }

  /** How many updates the batches of the first shard have: all, where none cancel. */
  long updates() throws Exception {
    ShardState state = state();
    return state.exists() ? state.batches().stream().mapToLong(Batch::rows).sum() : 0;
  }

  /** What the first shard holds at its newest time: {@code k=v}, and how often. */
  Map<String, Long> rows() throws Exception {
    return rows(0, Long.MAX_VALUE);
  }

  /** What a shard holds at a time, or at its newest. */
  Map<String, Long> rows(int shard, long asOf) throws Exception {
    Map<String, Long> rows = new TreeMap<>();
    ShardTarget target = shards.get(shard);
    ShardState state = TestShards.state(target);
    if (!state.exists() || state.upper().isMinimum()) {
      return rows;
    }
    long newest = state.upper().isEnd() ? Long.MAX_VALUE - 1 : state.upper().time() - 1;
    TestShards.read(
        target,
        Math.min(asOf, newest),
        (row, times) -> rows.merge(row[0] + "=" + row[2], times, Long::sum));
    rows.values().removeIf(count -> count == 0);
    return rows;
  }

  long errors() throws Exception {
    return TestShards.errors(shards.get(0), state().upper().time() - 1).size();
  }

  static String line(String key, long time, String value) {
    return "{\"k\":\"" + key + "\",\"ts\":" + time + ",\"v\":\"" + value + "\"}";
  }
}
