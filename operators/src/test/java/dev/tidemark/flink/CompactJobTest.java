package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** One job appends, others merge. */
@Timeout(180)
final class CompactJobTest {
  private static final long ROWS = 400;
  private static final SpineSpec SPEC = new SpineSpec(2, 4, 4, 1 << 20, 2.0, true);

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir private Path folder;

  private final TestShards shards = new TestShards(SPEC);
  private final ShardTarget shard = shards.shard("a");
  private final SinkSettings settings = TestShards.settings(1, 1 << 20, 64);

  private StreamExecutionEnvironment env(String checkpoints) {
    return StreamExecutionEnvironment.getExecutionEnvironment(
        TestJobs.conf(folder.toUri() + checkpoints, 50));
  }

  private JobClient ingest() throws Exception {
    return TestJobs.submit(env("ingest"), shard, settings.withMerging(false), ROWS, 1);
  }

  private JobClient compact(String name) throws Exception {
    StreamExecutionEnvironment env = env(name);
    env.setMaxParallelism(16);
    ShardTarget merged = ShardTarget.merged(shard.url(), shard.name(), null);
    TidemarkSink.compact(env, List.of(merged), settings);
    return env.executeAsync(name);
  }

  private static void cancel(JobClient job) throws Exception {
    job.cancel().get();
    TestJobs.awaitEnd(job);
  }

  private ShardState state() throws Exception {
    return TestShards.state(shard);
  }

  private boolean isMerged() throws Exception {
    return state().batches().stream().anyMatch(batch -> batch.level() > 0);
  }

  private boolean rests() throws Exception {
    ShardState state = state();
    return SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), Set.of())
        .isEmpty();
  }

  private void append(int from, int to) throws Exception {
    SlotKeys slots = new SlotKeys(1, 1, 16);
    for (int i = from; i < to; i++) {
      TestShards.append(
          shard,
          i == 0 ? Long.MIN_VALUE : i * 100L,
          i * 100L + 100,
          TestShards.row(slots, 0, i, "x", i * 100L + 99, 1));
    }
  }

  @Test
  void aFullShardIsMergedWhoeverOfThemDiesAndHoweverManyThereAre() throws Exception {
    append(0, SPEC.queue());
    JobClient first = compact("first");
    TestJobs.await("something is merged", first, this::isMerged);
    cancel(first);
    int more = SPEC.queue() - state().spine().count(0);
    append(SPEC.queue(), SPEC.queue() + more);
    JobClient one = compact("one");
    JobClient two = compact("two");
    TestJobs.await("the shard rests", one, this::rests);
    cancel(one);
    cancel(two);
    assertThat(state().spine().count()).isLessThanOrEqualTo(SPEC.rest());
    assertThat(TestShards.updates(shard)).hasSize(SPEC.queue() + more).doesNotHaveDuplicates();
  }

  @Test
  void aJobThatLeavesMergesToAnotherMergesNothingAndKeepsTheBounds() throws Exception {
    JobClient compact = compact("before the shard is there");
    JobClient ingest = ingest();
    TestJobs.awaitEnd(ingest);
    assertThat(ingest.getJobStatus().get()).isEqualTo(JobStatus.FINISHED);
    Long merges = ingest.getJobExecutionResult().get().getAccumulatorResult("tidemark.a.merges");
    assertThat(merges).isZero();
    TestJobs.await("the shard rests", compact, this::rests);
    cancel(compact);
    assertThat(state().spine().count()).isLessThanOrEqualTo(SPEC.rest());
    assertThat(TestShards.updates(shard)).hasSize((int) ROWS).doesNotHaveDuplicates();
  }
}
