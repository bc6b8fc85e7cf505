package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.message.Update;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A partition falls idle, and wakes up with rows of times that are closed by then. */
@Timeout(120)
final class IdleBacklogTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  private static final int EACH = 2_000;
  private static final int BEFORE_SILENCE = 10;

  /** The second partition is silent until it opens. */
  private static volatile CountDownLatch wakes = new CountDownLatch(0);

  /** The first doesn't end before it opens. */
  private static volatile CountDownLatch ends = new CountDownLatch(0);

  @TempDir Path folder;

  /** The first partition runs on; the backlog of the second is of times near its beginning. */
  private static long time(long number) {
    return number < EACH ? number * 10 : number - EACH;
  }

  private static Update update(long number, SlotKeys slots) throws InterruptedException {
    if (number == EACH + BEFORE_SILENCE) {
      wakes.await(60, TimeUnit.SECONDS);
    }
    if (number == EACH - 1) {
      ends.await(60, TimeUnit.SECONDS);
    }
    return TestShards.row(slots, 0, number, "x", time(number), 1);
  }

  /** Falls idle with the last row before the silence. */
  private static final class Generator implements WatermarkGenerator<Update> {
    private long greatest = Long.MIN_VALUE;

    @Override
    public void onEvent(Update row, long time, WatermarkOutput output) {
      greatest = Math.max(greatest, time);
      output.emitWatermark(new Watermark(greatest - 1));
      if (time == BEFORE_SILENCE - 1) {
        output.markIdle();
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  @Test
  @DisplayName(
      "P-TW-03: a backlog behind the watermark is dropped and counted, none is squeezed in")
  void aBacklogIsLate() throws Exception {
    wakes = new CountDownLatch(1);
    ends = new CountDownLatch(1);
    ShardTarget shard = new TestShards().shard("a");
    List<ShardTarget> shards = List.of(shard);
    SinkSettings settings =
        TestShards.settings(1, 1 << 20, 4 << 10)
            .withCommit(CommitSettings.frontier(Duration.ofMillis(20), LateRows.DROP));
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(
            // A reader that waits for the test lets no barrier pass.
            TestJobs.conf(folder.toUri() + "ckpt", Duration.ofHours(1).toMillis()));
    env.setParallelism(2);
    env.setMaxParallelism(16);
    SlotKeys slots = TidemarkSink.slotKeys(shards, settings, 2, 16);
    DataStream<Update> rows =
        env.fromSource(
                new NumberSequenceSource(0, 2 * EACH - 1),
                WatermarkStrategy.noWatermarks(),
                "numbers",
                Types.LONG)
            .uid("numbers")
            .map(number -> update(number, slots))
            .returns(Update.TYPE)
            .uid("to-update")
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Update>forGenerator(context -> new Generator())
                    .withTimestampAssigner((row, before) -> row.time))
            .uid("times");
    TidemarkSink.append(rows, shards, settings, slots)
        .sinkTo(new DiscardingSink<>())
        .uid("out")
        .setParallelism(1);
    JobClient job = env.executeAsync("backlog");
    Frontier beyond = Frontier.of(EACH);
    TestJobs.await("the first goes on alone", job, () -> passed(shard, beyond));
    wakes.countDown();
    ends.countDown();
    var result = job.getJobExecutionResult().get();
    long stored = TestShards.state(shard).batches().stream().mapToLong(Batch::rows).sum();
    long second = EACH - BEFORE_SILENCE;
    assertThat(result.<Long>getAccumulatorResult("tidemark.a.late")).isEqualTo(second);
    assertThat(stored).isEqualTo(2 * EACH - second);
  }

  private static boolean passed(ShardTarget shard, Frontier frontier) throws Exception {
    ShardState state = TestShards.state(shard);
    return state.exists() && state.upper().isAfter(frontier);
  }
}
