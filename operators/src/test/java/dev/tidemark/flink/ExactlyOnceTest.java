package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Counts, over jobs that fail, stop, and change their parallelism: every row is in its shard once,
 * late ones too, and no batch holds a row outside its bounds.
 */
@Timeout(120)
final class ExactlyOnceTest {
  private static final int SHARDS = 5;
  private static final int PARALLELISM = 3;

  /** Small, so that merges, promotions and full levels happen within a test. */
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(8)
              .setConfiguration(clusterConf())
              .build());

  @TempDir Path folder;

  @BeforeEach
  void noFaults() {
    CountedRows.Faults.LEFT.set(0);
    CountedRows.Faults.others = () -> false;
  }

  private final String name = UUID.randomUUID().toString();
  private final List<ShardTarget> shards = CountedRows.shards(name, SHARDS, SPEC);

  @ParameterizedTest(name = "unaligned {0}")
  @ValueSource(booleans = {false, true})
  void survivesFailuresOfTheInputAndOfAppends(boolean unaligned) throws Exception {
    long rows = 30_000;
    CountedRows.Faults.LEFT.set(5);
    FailingStore store = new FailingStore(memory(), 4, 17);
    Stores.putMemory(name, store);
    CountedRows.Faults.others = () -> store.left() > 0;
    Configuration conf = conf(100);
    conf.set(CheckpointingOptions.ENABLE_UNALIGNED, unaligned);
    submit(conf, rows, PARALLELISM, 10).getJobExecutionResult().get();
    assertThat(CountedRows.Faults.LEFT).hasValue(0);
    assertThat(store.left()).isZero();
    assertThat(checkRows(rows)).as("rows retimed").isPositive();
    assertThat(mergesInstalled()).as("merges in the shards' logs").isPositive();
  }

  @Test
  void commitsTheLastRowsOfAJobThatEndsBetweenCheckpoints() throws Exception {
    long rows = 3_000;
    submit(conf(60_000), rows, PARALLELISM, 0).getJobExecutionResult().get();
    checkRows(rows);
  }

  @Test
  void goesOnFromASavepointWithAnotherParallelism() throws Exception {
    long rows = 30_000;
    String savepoint = null;
    for (int parallelism : new int[] {3, 5}) {
      CountedRows.Faults.LEFT.set(1);
      JobClient job = submit(from(conf(100), savepoint), rows, parallelism, 80);
      awaitCommits(job, savepoint == null ? 3_000 : 10_000);
      savepoint = stop(job);
    }
    CountedRows.Faults.LEFT.set(1);
    submit(from(conf(100), savepoint), rows, 2, 10).getJobExecutionResult().get();
    checkRows(rows);
  }

  @Test
  void appendsNothingTwiceWhileCheckpointsOverlap() throws Exception {
    long rows = 20_000;
    CountedRows.Faults.LEFT.set(3);
    FailingStore store = new FailingStore(memory(), 4, 23);
    store.slow(40);
    Stores.putMemory(name, store);
    CountedRows.Faults.others = () -> store.left() > 0;
    Configuration conf = conf(20);
    conf.set(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, 6);
    submit(conf, rows, PARALLELISM, 10).getJobExecutionResult().get();
    assertThat(store.left()).isZero();
    checkRows(rows);
  }

  // ---- The job

  private static Configuration clusterConf() {
    Configuration conf = new Configuration();
    conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    return conf;
  }

  private Configuration conf(long intervalMillis) {
    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri() + "ckpt");
    conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(intervalMillis));
    conf.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 30);
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
    conf.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofMillis(20));
    conf.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
    return conf;
  }

  private static Configuration from(Configuration conf, String savepoint) {
    if (savepoint != null) {
      conf.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    return conf;
  }

  private JobClient submit(Configuration conf, long rows, int parallelism, long pauseMillis)
      throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(parallelism);
    env.setMaxParallelism(128);
    SinkSettings settings = settings();
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, parallelism, 128);
    TidemarkSink.append(
            CountedRows.stream(env, rows, PARALLELISM, pauseMillis, shards, slots),
            shards,
            settings,
            slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    return env.executeAsync("counted rows");
  }

  private static SinkSettings settings() {
    return new SinkSettings(
        "test",
        StoreSettings.DEFAULT,
        0,
        2,
        1 << 20,
        128L << 20,
        4 << 10,
        Duration.ofSeconds(1),
        true,
        1,
        64L << 20,
        Duration.ofMinutes(1));
  }

  private void awaitCommits(JobClient job, long rows) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (committedRows() < rows || CountedRows.Faults.areLeft()) {
      assertThat(System.nanoTime()).as("time is up").isLessThan(deadline);
      assertThat(job.getJobStatus().get()).isNotIn(JobStatus.FINISHED, JobStatus.FAILED);
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  /** Stops a job with a savepoint, without draining it; again if it was just being restarted. */
  private String stop(JobClient job) throws Exception {
    for (int attempt = 1; ; attempt++) {
      try {
        String savepoint =
            job.stopWithSavepoint(false, folder.toUri() + "sp", SavepointFormatType.CANONICAL)
                .get();
        awaitEnd(job);
        return savepoint;
      } catch (ExecutionException e) {
        assertThat(attempt).as("tries to stop: %s", e).isLessThan(20);
        TimeUnit.MILLISECONDS.sleep(200);
      }
    }
  }

  private static void awaitEnd(JobClient job) throws Exception {
    while (!job.getJobStatus().get().isGloballyTerminalState()) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private long committedRows() throws Exception {
    long sum = 0;
    for (ShardTarget shard : shards) {
      ShardState state = new ShardLog(open(shard)).refresh();
      if (state.exists()) {
        sum += state.batches().stream().mapToLong(Batch::rows).sum();
      }
    }
    return sum;
  }

  // ---- Reading back

  private ObjectStore memory() {
    return Stores.open("memory:" + name, StoreSettings.DEFAULT);
  }

  private int mergesInstalled() throws Exception {
    int merges = 0;
    for (ShardTarget shard : shards) {
      for (LogEntry entry : new ShardLog(open(shard)).entries(SeqNo.ZERO.next(), 100_000)) {
        merges += entry.command().equals("install") ? 1 : 0;
      }
    }
    return merges;
  }

  private static ObjectStore open(ShardTarget shard) {
    return Stores.open(shard.url(), StoreSettings.DEFAULT);
  }

  /** Every row once; returns how many were retimed. */
  private long checkRows(long rows) throws Exception {
    int[] seen = new int[(int) rows];
    long late = 0;
    for (int i = 0; i < SHARDS; i++) {
      ObjectStore store = open(shards.get(i));
      ShardState state = new ShardLog(store).refresh();
      PartStore parts =
          new PartStore(
              store, state.shard(), 1 << 20, new PartKeys(Clock.systemUTC(), new SecureRandom()));
      for (Batch batch : state.batches()) {
        late += countRows(parts, state, batch, i, seen, rows / PARALLELISM);
      }
    }
    for (int number = 0; number < rows; number++) {
      assertThat(seen[number]).as("row " + number).isEqualTo(1);
    }
    return late;
  }

  private static long countRows(
      PartStore parts, ShardState state, Batch batch, int shard, int[] seen, long perSplit)
      throws Exception {
    RowCodec codec = new RowCodec(CountedRows.SCHEMA);
    long late = 0;
    for (List<Part> run : batch.runs()) {
      try (UpdateCursor rows = parts.readRun(run, state.schema(), state.schema())) {
        while (rows.next()) {
          Object[] values = codec.decode(rows.row(), rows.rowOffset(), rows.rowLength());
          long number = (Long) values[0];
          long own = CountedRows.time(number, perSplit);
          assertThat(batch.bounds().contains(rows.time())).as("in " + batch).isTrue();
          assertThat(number % SHARDS).isEqualTo(shard);
          assertThat(values[1]).isEqualTo("row " + number);
          assertThat(rows.time()).isGreaterThanOrEqualTo(own);
          late += rows.time() > own ? 1 : 0;
          seen[(int) number] += (int) rows.diff();
        }
      }
    }
    return late;
  }
}
