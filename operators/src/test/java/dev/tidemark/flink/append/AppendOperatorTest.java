package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.Compactor;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class AppendOperatorTest {
  private static final long MIN = Long.MIN_VALUE;
  private static final long END = Long.MAX_VALUE;

  /** Level 0 holds seven runs, a fresh batch at most two. */
  private static final SpineSpec SMALL = new SpineSpec(4, 7, 8, 1 << 10, 2.0, true);

  private TestShards shards = new TestShards();
  private ShardTarget a = shards.shard("a");
  private ShardTarget b = shards.shard("b");
  private SlotKeys slots = new SlotKeys(2, 2, AppendHarness.KEY_GROUPS);
  private SinkSettings settings = TestShards.settings(2, 1 << 20, 4 << 10);
  private AppendHarness append;

  private void start() throws Exception {
    start(null);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    if (append != null) {
      append.close();
    }
    append = AppendHarness.start(List.of(a, b), settings, slots, state);
  }

  private void startSmall() throws Exception {
    shards = new TestShards(SMALL);
    a = shards.shard("a");
    b = shards.shard("b");
    start();
  }

  @AfterEach
  void stop() throws Exception {
    append.close();
  }

  private Update row(int shard, long id, long time) {
    return TestShards.row(slots, shard, id, "x", time, 1);
  }

  private OperatorSubtaskState snapshot(long checkpoint) throws Exception {
    return append.snapshot(checkpoint, 0);
  }

  @Test
  void commitsOnceTheCheckpointIsComplete() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50), row(1, 2, 60)));
    append.processWatermark(99);
    snapshot(1);
    assertThat(TestShards.state(a).upper()).isEqualTo(Frontier.MINIMUM);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 1", "b 100 1", "W 99");
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1");
    assertThat(TestShards.updates(b)).containsExactly("2 x @60 +1");
  }

  @Test
  void commitsNothingOfALaterCheckpoint() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    append.processWatermark(199);
    snapshot(2);
    append.add(TestBatches.inline(200, 300, row(0, 3, 250)));
    append.processWatermark(299);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 1");
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).containsExactly("a 200 1");
  }

  @Test
  void commitsWhatASkippedNotificationCovers() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    append.processWatermark(199);
    snapshot(2);
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).as("neighbours become one batch").containsExactly("a 200 2");
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @150 +1");
  }

  @Test
  void commitsAnAbortedCheckpointsBatchesWithTheNextOne() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.getOperator().notifyCheckpointAborted(1);
    assertThat(append.out()).isEmpty();
    append.processWatermark(199);
    snapshot(2);
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).containsExactly("a 200 1");
  }

  @Test
  void commitsAfterARestoreWhatWasPending() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50), row(1, 2, 60)));
    append.processWatermark(99);
    OperatorSubtaskState state = snapshot(7);
    start(state);
    assertThat(append.out()).containsExactly("a 100 1", "b 100 1", "W 99");
    start(state);
    assertThat(append.out()).as("the second time nothing").containsExactly("W 99");
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1");
  }

  /** Snapshot n + 1 may be taken before the news of n: appending it again would double rows. */
  @Test
  void doublesNothingThatALaterSnapshotStillHolds() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    append.processWatermark(199);
    OperatorSubtaskState second = snapshot(2);
    append.notifyOfCompletedCheckpoint(1);
    start(second);
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @150 +1");
    append.processWatermark(299);
    snapshot(3);
    append.notifyOfCompletedCheckpoint(3);
    assertThat(TestShards.updates(a)).hasSize(2);
  }

  @Test
  void keepsIdlenessToItself() throws Exception {
    start();
    append.processWatermarkStatus(WatermarkStatus.IDLE);
    assertThat(append.out()).isEmpty();
  }

  @Test
  void commitsQuietShardsAtTheIdleIntervalOnly() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 1");
    append.processWatermark(199);
    snapshot(2);
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).isEmpty();
    append.setProcessingTime(1_000);
    append.processWatermark(299);
    snapshot(3);
    append.notifyOfCompletedCheckpoint(3);
    assertThat(append.out()).containsExactly("a 300 0", "b 300 0", "W 299");
    assertThat(TestShards.state(a).batches()).as("the newest is extended").hasSize(1);
  }

  @Test
  void endsBehindTheLastRow() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    append.add(TestBatches.inline(100, END, row(0, 2, 250)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    append.endInput();
    OperatorSubtaskState last = snapshot(2);
    append.out();
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).containsExactly("a 251 1", "b 100 0", "W 99");
    start(last);
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @250 +1");
    assertThat(TestShards.state(a).upper()).isEqualTo(Frontier.of(251));
  }

  @Test
  void endsAJobWithoutWatermarksBehindItsLastRow() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, END, row(0, 1, -250)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    append.endInput();
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(TestShards.state(a).upper()).isEqualTo(Frontier.of(-249));
    assertThat(TestShards.state(b).upper()).as("without rows").isEqualTo(Frontier.MINIMUM);
  }

  @Test
  void makesOneRunOfTheSmallBatchesOfAllSlots() throws Exception {
    start();
    List<Update> rows = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int id = 0; id < 20; id++) {
      rows.add(row(0, id, 50));
      expected.add(id + " x @50 +1");
    }
    List<WrittenBatch> batches = TestBatches.inline(MIN, 100, rows.toArray(Update[]::new));
    assertThat(batches).hasSize(2);
    append.add(batches);
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    Batch batch = TestShards.state(a).batches().get(0);
    assertThat(batch.runs()).hasSize(1);
    assertThat(TestShards.updates(a)).isEqualTo(expected);
    assertThat(TestShards.open(a).list("part/", "", 10)).as("uploaded").isEmpty();
  }

  @Test
  void uploadsSmallBatchesThatTogetherAreLarge() throws Exception {
    start();
    List<Update> rows = new ArrayList<>();
    for (int id = 0; id < 300; id++) {
      rows.add(row(0, id, 50));
    }
    append.add(TestBatches.inline(MIN, 100, rows.toArray(Update[]::new)));
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(TestShards.updates(a)).hasSize(300);
    assertThat(TestShards.open(a).list("part/", "", 10)).hasSize(1);
  }

  @Test
  void makesOneRunOfTheErrorRowsOfAllSlots() throws Exception {
    start();
    append.add(
        TestBatches.inline(
            MIN,
            100,
            row(0, 1, 50),
            TestShards.error(slots, 0, "bad", 50),
            TestShards.error(slots, 0, "worse", 60),
            TestShards.error(slots, 1, "alone", 70)));
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(TestShards.errors(a, 99)).containsExactly("bad @99", "worse @99");
    assertThat(TestShards.errors(a, 55)).containsExactly("bad @55");
    assertThat(TestShards.errors(b, 99)).containsExactly("alone @99");
    assertThat(TestShards.state(b).batches().get(0).runs()).isEmpty();
  }

  /** Rows held for the slots of an earlier attempt leave beside those of the new ones. */
  @Test
  void makesFewerRunsOfMoreThanABatchMayHave() throws Exception {
    startSmall();
    for (int slot = 0; slot < 5; slot++) {
      append.add(List.of(TestBatches.uploaded(a, slot, MIN, 100, row(0, slot, 50))));
    }
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 5");
    assertThat(TestShards.state(a).batches().get(0).runCount()).isLessThanOrEqualTo(2);
    assertThat(TestShards.updates(a)).hasSize(5);
  }

  /** What is made into fewer runs needs room for those only; it used to wait for more for ever. */
  @Test
  void aBatchOfMoreRunsThanTheQueueHoldsIsNotStuckForEver() throws Exception {
    startSmall();
    for (int slot = 0; slot < 8; slot++) {
      append.add(List.of(TestBatches.uploaded(a, slot, MIN, 100, row(0, slot, 50))));
    }
    append.processWatermark(99);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 8");
    assertThat(TestShards.updates(a)).hasSize(8);
  }

  /** The job's picture of the spec is older than the shard's when the append is decided. */
  @Test
  void batchesCutByAnOlderSpecAreCutAnew() throws Exception {
    shards = new TestShards(new SpineSpec(8, 15, 16, 1 << 10, 2.0, true));
    a = shards.shard("a");
    b = shards.shard("b");
    start();
    for (int slot = 0; slot < 4; slot++) {
      append.add(List.of(TestBatches.uploaded(a, slot, MIN, 100, row(0, slot, 50))));
    }
    append.processWatermark(99);
    snapshot(1);
    TestShards.change(
        a,
        new Command.AlterSpec(2, 3, 4, null, null, null),
        TestShards.author("admin", "2026-01-01T00:00:00.000Z"));
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).containsExactly("a 100 4");
    assertThat(TestShards.state(a).spec().fanIn()).isEqualTo(2);
    assertThat(TestShards.state(a).batches().get(0).runCount()).isEqualTo(1);
    assertThat(TestShards.updates(a)).hasSize(4);
  }

  private void fill() throws Exception {
    for (int i = 0; i < 5; i++) {
      long lower = i == 0 ? MIN : i * 100L;
      long upper = (i + 1) * 100L;
      append.add(
          List.of(
              TestBatches.uploaded(a, 1, lower, upper, row(0, i, upper - 1)),
              TestBatches.uploaded(a, 2, lower, upper, row(0, i + 100, upper - 1))));
    }
    append.processWatermark(499);
    snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
  }

  private boolean merge() throws Exception {
    ShardLog log = new ShardLog(TestShards.open(a));
    return new Compactor(
            log,
            TestShards.parts(a),
            TestShards.author("compactor", "2026-01-01T00:00:00.000Z"),
            ShardHandle::newId)
        .step();
  }

  @Test
  void waitsForRoomAndGoesOnByItself() throws Exception {
    startSmall();
    fill();
    assertThat(append.out()).as("three of five fit").containsExactly("a 300 6");
    OperatorSubtaskState waiting = snapshot(2);
    append.setProcessingTime(1_000);
    assertThat(append.out()).as("b is quiet").containsExactly("b 500 0", "W 299");
    while (merge()) {
      // until nothing is wanted
    }
    append.setProcessingTime(2_000);
    assertThat(append.out()).containsExactly("a 500 4", "W 499");
    assertThat(TestShards.updates(a)).hasSize(10);
    start(waiting);
    assertThat(TestShards.updates(a)).as("restored from while it waited").hasSize(10);
  }

  @Test
  void failsWithWhatIsStuckOnceItHasWaitedTooLong() throws Exception {
    startSmall();
    fill();
    append.setProcessingTime(59_000);
    assertThatThrownBy(() -> append.setProcessingTime(62_000))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("shard " + a.url())
        .hasMessageContaining("spine.max-stall")
        .hasMessageContaining("has had no room for an append for 62 s (spine.max-stall 60 s)")
        .hasMessageContaining("level 0 counts 6 of at most 7 runs")
        .hasMessageContaining("stuck is the merge of 2 batches of level 0 (4 of the 6 runs")
        .hasMessageContaining("wanted since 1970-01-01T00:00:00Z at least")
        .hasMessageContaining("merge.parallelism");
  }

  @Test
  void saysSoWhenMergingIsOff() throws Exception {
    startSmall();
    fill();
    TestShards.change(
        a,
        new Command.AlterSpec(null, null, null, null, null, false),
        TestShards.author("admin", "2026-01-01T00:00:00.000Z"));
    append.setProcessingTime(1_000);
    assertThatThrownBy(() -> append.setProcessingTime(62_000))
        .hasMessageContaining("merging is off in the shard's spec")
        .hasMessageContaining("Switch merging on again");
  }

  /** What waited counts as long as it waited, and no longer. */
  @Test
  void countsForHowLongAnAppendWaited() throws Exception {
    startSmall();
    fill();
    append.setProcessingTime(1_000);
    append.setProcessingTime(2_000);
    assertThat(stallMillis()).isEqualTo(2_000);
    while (merge()) {
      // until nothing is wanted
    }
    append.setProcessingTime(3_000);
    append.setProcessingTime(9_000);
    assertThat(stallMillis()).isEqualTo(3_000);
    assertThat(append.out()).contains("a 500 4");
  }

  private long stallMillis() {
    return (Long)
        append
            .getOperator()
            .getRuntimeContext()
            .getAccumulator("tidemark.a.stallMillis")
            .getLocalValue();
  }

  @Test
  void makesRoomItselfAfterTheEndOfInput() throws Exception {
    startSmall();
    fill();
    append.add(TestBatches.inline(500, END, row(0, 1000, 5_000)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    append.endInput();
    ((AppendOperator) append.getOperator()).finish();
    snapshot(2);
    append.notifyOfCompletedCheckpoint(2);
    assertThat(TestShards.state(a).upper()).isEqualTo(Frontier.of(5_001));
    assertThat(TestShards.updates(a)).hasSize(11);
  }

  @Test
  void sharesPendingBatchesOutWhenItIsRescaled() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50), row(1, 2, 60)));
    append.processWatermark(99);
    OperatorSubtaskState state = snapshot(1);
    append.close();
    List<String> out = new ArrayList<>();
    for (int subtask = 0; subtask < 3; subtask++) {
      OperatorSubtaskState part =
          AppendHarness.repartitionOperatorState(state, AppendHarness.KEY_GROUPS, 1, 3, subtask);
      append = AppendHarness.start(List.of(a, b), settings, slots, part, 3, subtask);
      out.addAll(append.out());
      append.close();
    }
    assertThat(out).contains("a 100 1", "b 100 1");
    assertThat(TestShards.updates(a)).hasSize(1);
    assertThat(TestShards.updates(b)).hasSize(1);
  }

  /** Another attempt of the writer may have slots of its own: what is pending is still its. */
  @Test
  void commitsPendingBatchesOfOtherSlots() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50), row(0, 2, 50), row(0, 3, 50)));
    append.processWatermark(99);
    OperatorSubtaskState state = snapshot(1);
    append.close();
    slots = new SlotKeys(2, 1, AppendHarness.KEY_GROUPS);
    start(state);
    assertThat(TestShards.updates(a)).hasSize(3);
    ShardState there = TestShards.state(a);
    assertThat(there.upper()).isEqualTo(Frontier.of(100));
  }
}
