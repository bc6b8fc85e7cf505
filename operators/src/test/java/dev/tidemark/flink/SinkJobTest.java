package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.message.Update;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.read.Verifier;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs on one shard: its history shrinks, its errors stay, a full spine passes. */
@Timeout(180)
final class SinkJobTest {
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private final TestShards shards = new TestShards(SPEC);
  private ShardTarget shard = shards.shard("a", Duration.ZERO);

  @BeforeEach
  void noFaults() {
    CountedRows.Faults.reset();
  }

  /** Uploads nearly all, so that merges have parts to write. */
  private static SinkSettings settings(boolean merging) {
    return TestShards.settings(1, 1 << 20, 64).withMerging(merging);
  }

  private interface Rows {
    DataStream<Update> stream(StreamExecutionEnvironment env, SlotKeys slots);
  }

  private JobClient submit(Rows rows, boolean merging) throws Exception {
    return submit(rows, settings(merging));
  }

  private JobClient submit(Rows rows, SinkSettings settings) throws Exception {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(
            TestJobs.conf(folder.toUri() + "ckpt", 50));
    env.setParallelism(1);
    env.setMaxParallelism(16);
    SlotKeys slots = TidemarkSink.slotKeys(List.of(shard), settings, 1, 16);
    TidemarkSink.append(rows.stream(env, slots), List.of(shard), settings, slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    return env.executeAsync("one shard");
  }

  private List<String> snapshot(long asOf) throws Exception {
    ShardLog log = new ShardLog(TestShards.open(shard));
    try (UpdateCursor rows = new ShardReader(log).snapshot(log.refresh(), asOf)) {
      return TestShards.lines(rows);
    }
  }

  /** The last rows of the keys, at the last time. */
  private static List<String> lastRows(long count) {
    List<String> rows = new ArrayList<>();
    for (long key = 0; key < ManyUpdates.KEYS; key++) {
      long last = (count - 1 - key) / ManyUpdates.KEYS * ManyUpdates.KEYS + key;
      rows.add(key + " " + last + " @" + (count - 1) + " +1");
    }
    return rows;
  }

  private static long rows(ShardState state) {
    return state.batches().stream().mapToLong(Batch::rows).sum();
  }

  @Test
  void historyShrinksToWhatIsThereWhenNothingIsRetained() throws Exception {
    long count = 8_000;
    // the input goes by the clock and merges go by what the machine has left for them
    AtomicBoolean waits = new AtomicBoolean(true);
    CountedRows.Faults.others = waits::get;
    JobClient job = submit((env, slots) -> ManyUpdates.stream(env, count, 50, slots), true);
    long[] mostRuns = new long[1];
    TestJobs.await(
        "since moves and rows vanish",
        job,
        () -> {
          ShardState state = TestShards.state(shard);
          if (!state.exists()) {
            return false;
          }
          long runs = state.batches().stream().mapToLong(Batch::runCount).sum();
          mostRuns[0] = Math.max(mostRuns[0], runs);
          return state.upper().isAfter(Frontier.of(count / 2))
              && state.since().isAfter(Frontier.of(count / 4))
              && rows(state) < count / 4;
        });
    waits.set(false);
    job.getJobExecutionResult().get();
    ShardState state = TestShards.state(shard);
    assertThat(state.upper()).isEqualTo(Frontier.of(count));
    assertThat(snapshot(count - 1)).isEqualTo(lastRows(count));
    assertThat(mostRuns[0]).as("runs").isLessThanOrEqualTo(2L * 8 * 6);
    assertThat(TestShards.errors(shard, count - 1)).hasSize((int) count / ManyUpdates.ERROR_EVERY);
    List<String> commands =
        TestShards.entries(shard).stream().map(entry -> entry.command()).distinct().toList();
    assertThat(commands).contains("append", "since", "install");
    assertThat(state.batches().stream().mapToLong(batch -> batch.errors().size()).sum())
        .as("error parts, merged with their batches")
        .isLessThan(count / ManyUpdates.ERROR_EVERY);
  }

  /** The parts that stood in the log and are no longer there. */
  private long collected() throws Exception {
    Set<String> there = new HashSet<>();
    for (ObjectInfo part : TestShards.open(shard).list("part/", "", Integer.MAX_VALUE)) {
      there.add(part.key());
    }
    return TestShards.entries(shard).stream()
        .flatMap(entry -> entry.diff().add().stream())
        .filter(Fact.BatchFact.class::isInstance)
        .flatMap(fact -> ((Fact.BatchFact) fact).batch().runs().stream())
        .flatMap(List::stream)
        .map(part -> part.location())
        .filter(PartLocation.Stored.class::isInstance)
        .map(location -> ((PartLocation.Stored) location).key())
        .distinct()
        .filter(key -> !there.contains(key))
        .count();
  }

  @Test
  void theJobCollectsItsOwnGarbageAndLosesNothing() throws Exception {
    long count = 6_000;
    GcSettings eager = new GcSettings(Duration.ZERO, Duration.ofDays(7), 4096, 10_000);
    SinkSettings settings = settings(true).withGc(Duration.ofMillis(200), eager);
    JobClient job = submit((env, slots) -> ManyUpdates.stream(env, count, 100, slots), settings);
    TestJobs.await("garbage goes", job, () -> TestShards.state(shard).exists() && collected() > 0);
    job.getJobExecutionResult().get();
    assertThat(snapshot(count - 1)).isEqualTo(lastRows(count));
    assertThat(TestShards.errors(shard, count - 1)).hasSize((int) count / ManyUpdates.ERROR_EVERY);
    assertThat(new Verifier(new ShardLog(TestShards.open(shard))).verify(true).findings())
        .isEmpty();
  }

  @Test
  void historyStaysWhenItIsRetained() throws Exception {
    shard = shards.shard("a", Duration.ofHours(1));
    long count = 3_000;
    submit((env, slots) -> ManyUpdates.stream(env, count, 10, slots), true)
        .getJobExecutionResult()
        .get();
    ShardState state = TestShards.state(shard);
    assertThat(rows(state)).isEqualTo(2 * count - ManyUpdates.KEYS);
    assertThat(snapshot(count - 1)).isEqualTo(lastRows(count));
    assertThat(snapshot(99)).isEqualTo(lastRows(100));
  }

  @Test
  void aFullSpineHoldsAppendsUpButNoCheckpointAndPasses() throws Exception {
    BlockedMerges store =
        new BlockedMerges(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
    CountedRows.Faults.others = store::isBlocked;
    shard = shards.shard("a");
    long rows = 6_000;
    JobClient job =
        submit((env, slots) -> CountedRows.stream(env, rows, 1, 5, List.of(shard), slots), true);
    TestJobs.await("the spine is full", job, () -> level0(TestShards.state(shard)) >= 8);
    long seqno = TestShards.state(shard).seqno().value();
    int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
    TestJobs.await(
        "checkpoints go on", job, () -> CountedRows.Faults.CHECKPOINTS.get() >= checkpoints + 5);
    assertThat(TestShards.state(shard).seqno().value()).as("no append").isEqualTo(seqno);
    store.unblock();
    job.getJobExecutionResult().get();
    assertThat(TestShards.updates(shard)).hasSize((int) rows).doesNotHaveDuplicates();
  }

  @Test
  void aBoundedJobWhoseLastAppendMeetsAFullSpineMakesRoomItself() throws Exception {
    shard = shards.shard("a");
    CountedRows.Faults.others = () -> CountedRows.Faults.CHECKPOINTS.get() < 15;
    long rows = 6_000;
    submit((env, slots) -> CountedRows.stream(env, rows, 1, 5, List.of(shard), slots), false)
        .getJobExecutionResult()
        .get();
    assertThat(TestShards.updates(shard)).hasSize((int) rows).doesNotHaveDuplicates();
    assertThat(TestShards.entries(shard).stream().map(entry -> entry.command()))
        .as("it was full")
        .contains("install");
  }

  private static int level0(ShardState state) {
    return state.exists()
        ? state.batches().stream()
            .filter(batch -> batch.level() == 0)
            .mapToInt(Batch::runCount)
            .sum()
        : 0;
  }

  @Test
  void aJobThatMustNotGoOnFailsOnce() throws Exception {
    submit((env, slots) -> ManyUpdates.stream(env, 100, 0, slots), true)
        .getJobExecutionResult()
        .get();
    CountedRows.Faults.reset();
    JobClient again =
        submit((env, slots) -> CountedRows.stream(env, 1_000, 1, 50, List.of(shard), slots), true);
    assertThatThrownBy(() -> again.getJobExecutionResult().get())
        .hasStackTraceContaining("start = refuse");
    assertThat(again.getJobStatus().get()).isEqualTo(JobStatus.FAILED);
    assertThat(CountedRows.Faults.STARTS.get()).as("attempts").isLessThanOrEqualTo(1);
  }
}
