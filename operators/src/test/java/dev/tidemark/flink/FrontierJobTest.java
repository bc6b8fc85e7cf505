package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.testing.Seeds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Jobs of commit = frontier whose rows come in the order of the watermark: each is there once, at
 * its own time, whatever fails, and whatever state the job goes on from.
 */
@Timeout(120)
final class FrontierJobTest {
  private static final int SHARDS = 3;

  /** As many as there are parts of the input: a reader of two would read one after the other. */
  private static final int PARALLELISM = 2;

  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);
  private static final Duration MINT = Duration.ofMillis(20);
  private static final long NEVER = Duration.ofHours(1).toMillis();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private String name = "";
  private List<ShardTarget> shards = List.of();

  @BeforeEach
  void begin() {
    name = UUID.randomUUID().toString();
    shards = CountedRows.shards(name, SHARDS, SPEC);
    CountedRows.Faults.reset();
  }

  private static SinkSettings settings(String writer, StartMode start) {
    SinkSettings like = TestShards.settings(1, 1 << 20, 4 << 10);
    return new SinkSettings(
        writer,
        like.store(),
        like.writeParallelism(),
        like.writeRuns(),
        like.bufferBytes(),
        like.partTargetBytes(),
        like.inlineBytes(),
        like.idleInterval(),
        like.merging(),
        like.mergeParallelism(),
        like.mergeMemoryBytes(),
        like.mergeChunkBytes(),
        like.maxStall(),
        like.gcInterval(),
        like.gc(),
        start,
        CommitSettings.frontier(MINT, LateRows.FAIL));
  }

  private static SinkSettings settings() {
    return settings("test", StartMode.REFUSE);
  }

  private FailingStore failing(int failures, int every) {
    FailingStore store =
        new FailingStore(Stores.open("memory:" + name, StoreSettings.DEFAULT), failures, every);
    Stores.putMemory(name, store);
    CountedRows.Faults.others = () -> store.left() > 0;
    return store;
  }

  private JobClient submit(
      SinkSettings settings, long checkpointMillis, String savepoint, long rows, long pauseMillis)
      throws Exception {
    Configuration conf = TestJobs.conf(folder.toUri() + "ckpt", checkpointMillis);
    if (checkpointMillis == NEVER) {
      conf.removeConfig(CheckpointingOptions.CHECKPOINTING_INTERVAL);
    }
    if (savepoint != null) {
      conf.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(PARALLELISM);
    env.setMaxParallelism(16);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, PARALLELISM, 16);
    TidemarkSink.append(
            CountedRows.stream(env, rows, PARALLELISM, pauseMillis, shards, slots, 0),
            shards,
            settings,
            slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    return env.executeAsync("frontier");
  }

  private long committed() throws Exception {
    long rows = 0;
    for (ShardTarget shard : shards) {
      ShardState state = TestShards.state(shard);
      if (state.exists()) {
        rows += state.batches().stream().mapToLong(Batch::rows).sum();
      }
    }
    return rows;
  }

  private long appendsOf(String writer) throws Exception {
    long appends = 0;
    for (ShardTarget shard : shards) {
      for (LogEntry entry : TestShards.entries(shard)) {
        boolean theirs = entry.by().attempt().writer().equals(writer);
        appends += theirs && entry.command().equals("append") ? 1 : 0;
      }
    }
    return appends;
  }

  /** Every row once, at its own time. */
  private void checkRows(long rows) throws Exception {
    int[] seen = new int[(int) rows];
    for (int i = 0; i < SHARDS; i++) {
      ShardState state = new ShardLog(TestShards.open(shards.get(i))).refresh();
      for (Batch batch : state.batches()) {
        for (List<Part> run : batch.runs()) {
          countRows(shards.get(i), state, batch, run, seen, rows / PARALLELISM);
        }
      }
    }
    for (int number = 0; number < rows; number++) {
      assertThat(seen[number]).as("row " + number).isEqualTo(1);
    }
  }

  private static void countRows(
      ShardTarget shard, ShardState state, Batch batch, List<Part> run, int[] seen, long perSplit)
      throws Exception {
    RowCodec codec = new RowCodec(CountedRows.SCHEMA);
    try (UpdateCursor rows = TestShards.parts(shard).readRun(run, state.schema(), state.schema())) {
      while (rows.next()) {
        long number = (Long) codec.decode(rows.row(), rows.rowOffset(), rows.rowLength())[0];
        if (!batch.cut()) {
          assertThat(batch.bounds().contains(rows.time())).as("in " + batch).isTrue();
        }
        if (batch.bounds().contains(rows.time())) {
          assertThat(rows.time()).isEqualTo(CountedRows.time(number, perSplit, 0));
          seen[(int) number] += (int) rows.diff();
        }
      }
    }
  }

  @Test
  void survivesFailuresOfTheInputAndOfAppends() throws Exception {
    long rows = 10_000;
    CountedRows.Faults.LEFT.set(3);
    FailingStore store = failing(4, 17);
    submit(settings(), 100, null, rows, 10).getJobExecutionResult().get();
    assertThat(CountedRows.Faults.LEFT).hasValue(0);
    assertThat(store.left()).isZero();
    checkRows(rows);
  }

  @Test
  void beginsAnewWithoutAnyCheckpoint() throws Exception {
    long rows = 6_000;
    FailingStore store = failing(3, 11);
    submit(settings(), NEVER, null, rows, 10).getJobExecutionResult().get();
    assertThat(store.left()).isZero();
    checkRows(rows);
  }

  /** Intervals, failures and the store's speed as they come. */
  @Test
  @Timeout(600)
  void survivesRandomInterleavings() {
    Seeds.check(
        2,
        random -> {
          begin();
          playOnce(random);
        });
  }

  private void playOnce(RandomGenerator random) throws Exception {
    long rows = 5_000;
    CountedRows.Faults.LEFT.set(random.nextInt(3));
    FailingStore store = failing(random.nextInt(5), 3 + random.nextInt(20));
    store.slow(random.nextInt(60));
    submit(settings(), 20 + random.nextInt(200), null, rows, 10).getJobExecutionResult().get();
    checkRows(rows);
  }

  @Test
  @DisplayName("P-XO-03: an older savepoint goes on, and what the log has is left out")
  void goesOnFromAnOlderSavepoint() throws Exception {
    long rows = 20_000;
    JobClient job = submit(settings(), 100, null, rows, 40);
    TestJobs.await("rows are committed", job, () -> committed() > 1_000);
    String older = job.triggerSavepoint(folder.toUri() + "sp", SavepointFormatType.CANONICAL).get();
    long before = committed();
    TestJobs.await("more rows are committed", job, () -> committed() > before + 2_000);
    job.cancel().get();
    TestJobs.awaitEnd(job);
    submit(settings(), 100, older, rows, 0).getJobExecutionResult().get();
    checkRows(rows);
  }

  @Test
  void aSavepointTakenWhileAppendsAreUnderWayHasThem() throws Exception {
    long rows = 10_000;
    FailingStore store = failing(0, 1);
    store.slow(150); // far longer than a tick: there is always one under way
    JobClient job = submit(settings(), 100, null, rows, 40);
    TestJobs.await("rows are committed", job, () -> committed() > 500);
    String savepoint =
        job.stopWithSavepoint(false, folder.toUri() + "sp", SavepointFormatType.CANONICAL).get();
    TestJobs.awaitEnd(job);
    store.slow(0);
    submit(settings(), 100, savepoint, rows, 0).getJobExecutionResult().get();
    checkRows(rows);
  }

  /**
   * Readers take their time until {@link #letGo}, so that no job ends before its test is through.
   */
  private static void brake() {
    CountedRows.Faults.others = () -> true;
  }

  private static void letGo() {
    CountedRows.Faults.others = () -> false;
  }

  @Test
  void twoJobsHandTheirShardsOverAndBack() throws Exception {
    long rows = 40_000;
    brake();
    JobClient a = submit(settings("a", StartMode.REFUSE), 200, null, rows, 0);
    TestJobs.await("rows are committed", a, () -> committed() > 300);
    handOver("b"); // makes it known
    handOver("a");
    JobClient b = submit(settings("b", StartMode.RESUME_BY_TIME), 200, null, rows, 0);
    TestJobs.await("the first goes on", a, twice("a"));
    assertThat(appendsOf("b")).as("while it is read-only").isZero();
    handOver("b");
    TestJobs.await("the second goes on", b, twice("b"));
    handOver("a");
    TestJobs.await("the first goes on again", a, twice("a"));
    letGo();
    a.getJobExecutionResult().get();
    b.getJobExecutionResult().get();
    checkRows(rows);
  }

  @Test
  void twoLenientJobsWriteTheSameRowsOnce() throws Exception {
    long rows = 40_000;
    brake();
    List<JobClient> jobs = new ArrayList<>();
    for (String writer : List.of("a", "b")) {
      SinkSettings settings = settings(writer, StartMode.RESUME_BY_TIME);
      CommitSettings lenient = settings.commit().withLenient(true);
      jobs.add(submit(settings.withCommit(lenient), 200, null, rows, 0));
    }
    for (int job = 0; job < 2; job++) {
      String writer = job == 0 ? "a" : "b";
      TestJobs.await(writer + " appends", jobs.get(job), () -> appendsOf(writer) > 0);
    }
    letGo();
    for (JobClient job : jobs) {
      job.getJobExecutionResult().get();
    }
    checkRows(rows);
  }

  @Test
  void ofTwoJobsOneStopsForGoodAndNamesTheOther() throws Exception {
    long rows = 40_000;
    brake();
    JobClient a = submit(settings("a", StartMode.REFUSE), 200, null, rows, 0);
    TestJobs.await("rows are committed", a, () -> committed() > 300);
    JobClient b = submit(settings("b", StartMode.RESUME_BY_TIME), 200, null, rows, 0);
    CompletableFuture<?> first =
        CompletableFuture.anyOf(a.getJobExecutionResult(), b.getJobExecutionResult());
    assertThatThrownBy(first::get)
        .satisfies(
            failure ->
                assertThat(ExceptionUtils.stringifyException(failure))
                    .contains("Only one job may write a shard")
                    .contains("(attempt ")
                    .contains(" since 20")
                    .contains("tidemark hand-over"));
    assertThat(CountedRows.Faults.STARTS.get()).as("no restart of either").isEqualTo(2);
    TestJobs.abandon(a);
    TestJobs.abandon(b);
  }

  private void handOver(String writer) throws Exception {
    for (ShardTarget shard : shards) {
      TestShards.change(
          shard,
          new Command.HandOver(writer),
          TestShards.author("admin", "2026-01-01T00:00:00.000Z"));
    }
  }

  /** That a writer has appended to each shard twice more than by now, on average. */
  private TestJobs.Condition twice(String writer) throws Exception {
    long now = appendsOf(writer);
    return () -> appendsOf(writer) >= now + 2 * SHARDS;
  }
}
