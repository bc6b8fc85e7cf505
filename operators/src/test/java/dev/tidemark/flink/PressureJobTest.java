package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.log.LogEntry;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whole jobs whose merges don't keep up. {@code -Dtidemark.pressure.seconds=120} has them not keep
 * up for that long.
 */
@Timeout(600)
final class PressureJobTest {
  private static final Logger LOG = LoggerFactory.getLogger(PressureJobTest.class);
  private static final long SECONDS = Long.getLong("tidemark.pressure.seconds", 6);

  private static final long COMMIT_MILLIS = 50;

  /** A fifth of what is needed: merges read one part while five are written. */
  private static final int CHECKPOINTS_A_PART = 5;

  /** Batches of these tests are small by far: none is promoted for its size. */
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 20, 2.0, true);

  private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      TestJobs.cluster(METRICS.addToConfiguration(new Configuration()));

  @TempDir Path folder;

  private final TestShards shards = new TestShards(SPEC);
  private final ShardTarget shard = shards.shard("a");

  @BeforeEach
  void noFaults() {
    CountedRows.Faults.reset();
  }

  private static SinkSettings settings(boolean merging, Duration maxStall) {
    return TestShards.settings(1, 1 << 20, 64, 64L << 20, maxStall).withMerging(merging);
  }

  private JobClient submit(long rows, SinkSettings settings, int restarts) throws Exception {
    Configuration conf = TestJobs.conf(folder.toUri() + "ckpt", COMMIT_MILLIS);
    conf.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, restarts);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(1);
    env.setMaxParallelism(16);
    List<ShardTarget> all = List.of(shard);
    SlotKeys slots = TidemarkSink.slotKeys(all, settings, 1, 16);
    TidemarkSink.append(CountedRows.stream(env, rows, 1, 5, all, slots), all, settings, slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    return env.executeAsync("pressure");
  }

  private SlowMerges slowMerges() {
    SlowMerges store =
        new SlowMerges(
            Stores.open("memory:" + shards.store, StoreSettings.DEFAULT),
            CountedRows.Faults.CHECKPOINTS::get,
            CHECKPOINTS_A_PART);
    Stores.putMemory(shards.store, store);
    return store;
  }

  /** What was seen of a job while its merges were slow. */
  private static final class Sightings {
    int pauses;
    long longestPauseMillis;
    int checkpointsInIt;
  }

  /** Looks on for a while: a pause is half a second or more in which nothing is read. */
  private static Sightings watch(long seconds) throws InterruptedException {
    Sightings seen = new Sightings();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    long read = CountedRows.Faults.READ.get();
    long since = System.nanoTime();
    int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
    while (System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(20);
      long now = CountedRows.Faults.READ.get();
      long still = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
      if (now == read) {
        if (still > seen.longestPauseMillis) {
          seen.longestPauseMillis = still;
          seen.checkpointsInIt = CountedRows.Faults.CHECKPOINTS.get() - checkpoints;
        }
      } else {
        seen.pauses += still >= 500 ? 1 : 0;
        read = now;
        since = System.nanoTime();
        checkpoints = CountedRows.Faults.CHECKPOINTS.get();
      }
    }
    return seen;
  }

  private double gauge(JobID job, String name) {
    Metric gauge = METRICS.findMetric(job, "append.0.tidemark.a." + name).orElseThrow();
    return ((Number) ((Gauge<?>) gauge).getValue()).doubleValue();
  }

  /** No version has more runs than its spec promises for what was appended by then. */
  private int mostRunsWithinTheirBound() throws Exception {
    ShardState state = ShardState.EMPTY;
    int most = 0;
    for (LogEntry entry : TestShards.entries(shard)) {
      state = state.apply(entry.diff());
      int runs = state.spine().runs();
      Written written = Objects.requireNonNullElse(state.written(), Written.NONE);
      long bound = Bounds.of(state.spec(), written).runs();
      assertThat((long) runs)
          .as("runs at version %s", entry.seqno())
          .isLessThanOrEqualTo(state.consolidating() == null ? bound : 2 * bound);
      most = Math.max(most, runs);
    }
    return most;
  }

  @Test
  void mergesAtAFifthHoldTheSourceAndNothingElse() throws Exception {
    SlowMerges store = slowMerges();
    boolean[] slow = {true};
    CountedRows.Faults.others = () -> slow[0];
    long rows = 2_000 * SECONDS;
    JobClient job = submit(rows, settings(true, Duration.ofMinutes(1)), 0);
    TestJobs.await("an append is refused", job, () -> stalled(job.getJobID()));
    int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
    Sightings seen = watch(SECONDS);
    int taken = CountedRows.Faults.CHECKPOINTS.get() - checkpoints;
    long readSlow = CountedRows.Faults.READ.get();
    double stallMillis = gauge(job.getJobID(), "stallMillis");
    double heldMillis = heldMillis(job.getJobID());
    store.lift();
    slow[0] = false;
    job.getJobExecutionResult().get();

    assertThat(seen.longestPauseMillis).as("the source stands still").isGreaterThan(1_000);
    assertThat(seen.checkpointsInIt).as("checkpoints go on").isPositive();
    assertThat(stallMillis).isGreaterThan(500);
    assertThat(heldMillis).isGreaterThan(500);
    assertThat(readSlow).as("held back").isLessThan(rows);
    assertThat(TestShards.updates(shard)).hasSize((int) rows).doesNotHaveDuplicates();
    int most = mostRunsWithinTheirBound();
    ShardState state = TestShards.state(shard);
    Written written = Objects.requireNonNull(state.written());
    assertThat(gauge(job.getJobID(), "upper")).isEqualTo((double) state.upper().time());
    assertThat(gauge(job.getJobID(), "runsBound"))
        .isEqualTo(Bounds.of(state.spec(), written).runs());
    assertThat(gauge(job.getJobID(), "writeAmplification")).isEqualTo(written.amplification());
    LOG.warn( // so that a long run tells its figures
        "{} s of slow merges: {} of {} rows read, {} pauses of 500 ms and more that ended (longest"
            + " of all {} ms, {} checkpoints in it), {} checkpoints, stalled {} ms, held {}"
            + " ms; most runs {} of {} at the end, {} versions",
        SECONDS,
        readSlow,
        rows,
        seen.pauses,
        seen.longestPauseMillis,
        seen.checkpointsInIt,
        taken,
        (long) stallMillis,
        (long) heldMillis,
        most,
        Bounds.of(state.spec(), written).runs(),
        state.seqno());
  }

  private static double heldMillis(JobID job) {
    Metric gauge = METRICS.findMetric(job, "numbers.0.tidemark.heldMillis").orElseThrow();
    return ((Number) ((Gauge<?>) gauge).getValue()).doubleValue();
  }

  private boolean stalled(JobID job) {
    return METRICS.findMetric(job, "append.0.tidemark.a.pressure").isPresent()
        && gauge(job, "pressure") == 1;
  }

  @Test
  void aBoundedJobWithSlowMergesEndsByItself() throws Exception {
    slowMerges();
    CountedRows.Faults.others = () -> CountedRows.Faults.CHECKPOINTS.get() < 20;
    submit(1_000, settings(true, Duration.ofMinutes(1)), 0).getJobExecutionResult().get();
    assertThat(TestShards.updates(shard)).hasSize(1_000).doesNotHaveDuplicates();
  }

  @Test
  void mergesThatDontComeFailTheJobByName() throws Exception {
    BlockedMerges store =
        new BlockedMerges(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
    CountedRows.Faults.others = store::isBlocked;
    JobClient job = submit(1_000_000, settings(true, Duration.ofSeconds(3)), 0);
    try {
      assertThatThrownBy(() -> job.getJobExecutionResult().get())
          .hasStackTraceContaining("shard " + shard.url() + " has had no room for an append for")
          .hasStackTraceContaining("spine.max-stall 3 s")
          .hasStackTraceContaining(
              "and its merges don't come; stuck is the merge of 4 batches of level")
          .hasStackTraceContaining("wanted since 20");
    } finally {
      store.unblock();
    }
  }
}
