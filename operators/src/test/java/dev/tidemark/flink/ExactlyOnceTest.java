package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import dev.tidemark.testing.Seeds;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
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

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private String name = "";
  private List<ShardTarget> shards = List.of();
  private SinkSettings settings = TestShards.settings(2, 1 << 20, 4 << 10);

  @BeforeEach
  void begin() {
    name = UUID.randomUUID().toString();
    shards = CountedRows.shards(name, SHARDS, SPEC);
    CountedRows.Faults.reset();
  }

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

  /** Intervals, failures, stops, parallelism, slots and sizes as they come. */
  @Test
  @Timeout(600)
  @DisplayName("persist 17: killed and restarted at random, each row is there once")
  void survivesRandomInterleavings() {
    Seeds.check(
        2,
        random -> {
          begin();
          playOnce(random);
        });
  }

  private void playOnce(RandomGenerator random) throws Exception {
    long rows = 12_000;
    FailingStore store = new FailingStore(memory(), random.nextInt(5), 3 + random.nextInt(20));
    store.slow(random.nextInt(30));
    Stores.putMemory(name, store);
    String savepoint = null;
    for (int stops = random.nextInt(3); stops > 0; stops--) {
      AtomicBoolean going = new AtomicBoolean(true);
      CountedRows.Faults.LEFT.set(random.nextInt(2));
      CountedRows.Faults.others = going::get;
      long before = committedRows();
      JobClient job = submitAnyhow(random, rows, savepoint);
      TestJobs.await("rows are committed", job, () -> committedRows() > before + 500);
      savepoint = stop(job);
      going.set(false);
    }
    CountedRows.Faults.LEFT.set(random.nextInt(4));
    CountedRows.Faults.others = () -> store.left() > 0;
    submitAnyhow(random, rows, savepoint).getJobExecutionResult().get();
    checkRows(rows);
  }

  private JobClient submitAnyhow(RandomGenerator random, long rows, String savepoint)
      throws Exception {
    Configuration conf = from(conf(20 + random.nextInt(150)), savepoint);
    boolean unaligned = random.nextBoolean();
    conf.set(CheckpointingOptions.ENABLE_UNALIGNED, unaligned);
    conf.set(
        CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, unaligned ? 1 : 1 + random.nextInt(4));
    settings =
        TestShards.settings(
            1 + random.nextInt(2),
            random.nextBoolean() ? 20_000 : 1 << 20,
            random.nextBoolean() ? 64 : 4 << 10);
    return submit(conf, rows, 1 + random.nextInt(5), 10);
  }

  @Test
  @DisplayName("P-XO-03: a savepoint older than the shards is refused once, for good")
  void anOlderSavepointThanTheShardsIsRefusedOnce() throws Exception {
    long rows = 30_000;
    AtomicBoolean going = new AtomicBoolean(true);
    CountedRows.Faults.others = going::get;
    JobClient job = submit(conf(100), rows, PARALLELISM, 80);
    TestJobs.await("rows are committed", job, () -> committedRows() > 1_000);
    String older = job.triggerSavepoint(folder.toUri() + "sp", SavepointFormatType.CANONICAL).get();
    long before = committedRows();
    TestJobs.await("more rows are committed", job, () -> committedRows() > before + 1_000);
    stop(job);
    long after = committedRows();
    CountedRows.Faults.reset();
    JobClient again = submit(from(conf(100), older), rows, PARALLELISM, 80);
    assertThatThrownBy(() -> again.getJobExecutionResult().get())
        .hasStackTraceContaining("restore a newer checkpoint");
    assertThat(CountedRows.Faults.STARTS.get()).as("attempts").isLessThanOrEqualTo(1);
    assertThat(committedRows()).isEqualTo(after);
  }

  // ---- The job

  private Configuration conf(long intervalMillis) {
    return TestJobs.conf(folder.toUri() + "ckpt", intervalMillis);
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

  private void awaitCommits(JobClient job, long rows) throws Exception {
    TestJobs.await(
        rows + " rows are committed and nothing is left to fail",
        job,
        () -> committedRows() >= rows && !CountedRows.Faults.areLeft());
  }

  private String stop(JobClient job) throws Exception {
    return TestJobs.stop(job, folder.toUri() + "sp");
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
