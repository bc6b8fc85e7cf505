package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.MergeChunks;
import dev.tidemark.read.Verifier;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Whole jobs whose merges are slow or stuck: nothing else is. */
@Timeout(180)
final class MergeJobTest {
  private static final SpineSpec SPEC = new SpineSpec(4, 8, 8, 1 << 10, 2.0, true);
  private static final int SLOTS = 2;

  /** A merge of four batches has a good many chunks then. */
  private static final long CHUNK_BYTES = 500;

  private static final SinkSettings SETTINGS = TestShards.settings(1, 1 << 20, 64, CHUNK_BYTES);

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private final TestShards shards = new TestShards(SPEC);
  private final ShardTarget shard = shards.shard("a");

  @BeforeEach
  void noFaults() {
    CountedRows.Faults.reset();
  }

  private BlockedMerges store(BlockedMerges.At at) {
    BlockedMerges store =
        new BlockedMerges(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT), at);
    Stores.putMemory(shards.store, store);
    CountedRows.Faults.others = store::isBlocked;
    return store;
  }

  private JobClient submit(long rows) throws Exception {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(
            TestJobs.conf(folder.toUri() + "ckpt", 50));
    return TestJobs.submit(env, shard, SETTINGS, rows, 5);
  }

  private void assertWhole(long rows) throws Exception {
    assertThat(TestShards.updates(shard)).hasSize((int) rows).doesNotHaveDuplicates();
    assertThat(new Verifier(new ShardLog(TestShards.open(shard))).verify(true).findings())
        .isEmpty();
    ShardState state = TestShards.state(shard);
    assertThat(state.batches().stream().mapToLong(Batch::runCount).sum())
        .as("ReadBound")
        .isLessThanOrEqualTo(Bounds.of(SPEC, state.written()).runs());
  }

  private static int level0(ShardState state) {
    return state.batches().stream()
        .filter(batch -> batch.level() == 0)
        .mapToInt(Batch::runCount)
        .sum();
  }

  /** No slot of merge has read anything yet, and more chunks than slots are asked for. */
  @Test
  void stuckMergesAndAFullQueueHoldUpNoCheckpoint() throws Exception {
    BlockedMerges store = store(BlockedMerges.At.READS);
    long rows = 4_000;
    JobClient job = submit(rows);
    TestJobs.await("every slot is stuck", job, () -> store.waiting() == SLOTS);
    TestJobs.await("the shard is full", job, () -> level0(TestShards.state(shard)) >= 8);
    List<Batch> asked = TestShards.state(shard).batches().subList(0, 4);
    assertThat(MergeChunks.cut(TestShards.parts(shard), asked, CHUNK_BYTES))
        .as("chunks in the queue")
        .hasSizeGreaterThan(SLOTS);
    int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
    TestJobs.await(
        "checkpoints go on", job, () -> CountedRows.Faults.CHECKPOINTS.get() >= checkpoints + 10);
    assertThat(store.waiting()).as("stuck all the time").isEqualTo(SLOTS);
    assertThat(store.uploaded()).isEmpty();
    store.unblock();
    job.getJobExecutionResult().get();
    assertThat(CountedRows.Faults.STARTS).as("starts of the job").hasValue(1);
    assertWhole(rows);
  }

  /**
   * A chunk each tenth checkpoint, where one each checkpoint is needed: four batches are a merge of
   * four chunks.
   */
  @Test
  @DisplayName("P-PF-03: merges that can't keep up hold appends, no checkpoint, and it passes")
  void mergesThatCantKeepUp() throws Exception {
    BlockedMerges store = store(BlockedMerges.At.UPLOADS);
    long rows = 20_000;
    JobClient job = submit(rows);
    int[] granted = new int[1];
    boolean[] full = new boolean[1];
    TestJobs.await(
        "sixty checkpoints are complete and the shard was full",
        job,
        () -> {
          int checkpoints = CountedRows.Faults.CHECKPOINTS.get();
          int due = checkpoints / 10 - granted[0];
          store.allow(due);
          granted[0] += due;
          ShardState state = TestShards.state(shard);
          int runs = state.exists() ? level0(state) : 0;
          assertThat(runs).as("runs of level 0").isLessThanOrEqualTo(SPEC.queue());
          full[0] |= runs == SPEC.queue();
          return checkpoints >= 60 && full[0];
        });
    assertThat(store.uploaded()).as("merges went on slowly").isNotEmpty();
    store.unblock();
    job.getJobExecutionResult().get();
    assertThat(CountedRows.Faults.STARTS).as("starts of the job").hasValue(1);
    assertWhole(rows);
  }
}
