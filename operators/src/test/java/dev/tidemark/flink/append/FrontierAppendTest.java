package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Append with commit = frontier: what differs from commit = checkpoint. */
@Timeout(60)
final class FrontierAppendTest {
  private static final long MIN = Long.MIN_VALUE;
  private static final long END = Long.MAX_VALUE;
  private static final String OTHER = "2026-01-01T00:00:00.000Z";

  /** Level 0 holds seven runs, a fresh batch at most two. */
  private static final SpineSpec SMALL = new SpineSpec(4, 7, 8, 1 << 10, 2.0, true);

  private TestShards shards = new TestShards();
  private ShardTarget a = shards.shard("a");
  private ShardTarget b = shards.shard("b");
  private final SlotKeys slots = new SlotKeys(2, 2, AppendHarness.KEY_GROUPS);
  private final CommitSettings frontier =
      CommitSettings.frontier(Duration.ofSeconds(1), LateRows.FAIL);
  private SinkSettings settings =
      TestShards.settings(2, 1 << 20, 4 << 10).withCommit(frontier).withStart(StartMode.REFUSE);
  private AppendHarness append;
  private GatedStore gate;

  private void start() throws Exception {
    start(null);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    stop();
    append = AppendHarness.start(List.of(a, b), settings, slots, state);
  }

  private void gated() {
    gate = new GatedStore(shards.store);
    Stores.putMemory(shards.store, gate);
  }

  @AfterEach
  void stop() {
    if (gate != null) {
      gate.open();
    }
    if (append != null) {
      append.close();
      append = null;
    }
  }

  private Update row(int shard, long id, long time) {
    return TestShards.row(slots, shard, id, "x", time, 1);
  }

  /** The rows of shard a of one description, and its watermark. */
  private void pass(long lower, long upper, Update... rows) throws Exception {
    append.add(TestBatches.inline(lower, upper, rows));
    append.processWatermark(upper - 1);
    append.settle();
  }

  private OperatorSubtaskState snapshot(long checkpoint) throws Exception {
    return append.snapshot(checkpoint, 0);
  }

  /** What a reader sees at the end of a shard. */
  private static List<String> read(ShardTarget shard) throws Exception {
    ShardLog log = new ShardLog(TestShards.open(shard));
    ShardState state = log.refresh();
    try (UpdateCursor rows = new ShardReader(log).snapshot(state, state.upper().time() - 1)) {
      return TestShards.lines(rows);
    }
  }

  private static Frontier upper(ShardTarget shard) throws Exception {
    return TestShards.state(shard).upper();
  }

  private static long appends(ShardTarget shard) throws Exception {
    return TestShards.entries(shard).stream()
        .map(LogEntry::command)
        .filter("append"::equals)
        .count();
  }

  private static void handOver(ShardTarget shard, String writer) throws Exception {
    CommitResult result =
        TestShards.change(shard, new Command.HandOver(writer), TestShards.author("admin", OTHER));
    assertThat(result).isInstanceOf(CommitResult.Committed.class);
  }

  private long counter(String name) {
    return (Long)
        append.getOperator().getRuntimeContext().getAccumulator("tidemark." + name).getLocalValue();
  }

  // ---- What is due

  @Test
  void appendsWhatTheWatermarkHasPassedWithoutACheckpoint() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.settle();
    assertThat(append.out()).as("others' batches of it may be on their way").isEmpty();
    append.processWatermark(99);
    append.settle();
    assertThat(append.out()).containsExactly("a 100 1");
    pass(100, 200, row(0, 2, 150), row(1, 3, 160));
    assertThat(append.out()).contains("a 200 1", "b 200 1").endsWith("W 199");
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @150 +1");
  }

  @Test
  @DisplayName("persist 4: a batch that comes before its frontier waits for it")
  void leavesBatchesAboveTheWatermark() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    append.processWatermark(99);
    append.settle();
    assertThat(append.out()).containsExactly("a 100 1");
  }

  @Test
  @DisplayName("persist 6: two ready descriptions are one append, in order")
  void appendsWhatIsReadyAtOnce() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    append.processWatermark(199);
    append.settle();
    assertThat(append.out()).containsExactly("a 200 2");
    assertThat(appends(a)).isOne();
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @150 +1");
  }

  @Test
  @DisplayName("persist 5: without rows the upper advances, at the idle interval")
  void quietShardsFollowAtTheIdleInterval() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    append.processWatermark(199);
    append.settle();
    assertThat(append.out()).containsExactly("a 100 1");
    append.setProcessingTime(1_000);
    append.settle();
    assertThat(append.out()).contains("a 200 0", "b 200 0", "W 199");
    assertThat(TestShards.state(a).batches()).as("the newest is extended").hasSize(1);
  }

  @Test
  @DisplayName("P-TW-07: thousands of quiet intervals make no objects and few versions")
  void quietIntervalsCostLittle() throws Exception {
    start();
    int ticks = 2_000;
    for (int tick = 1; tick <= 2 * ticks; tick++) {
      if (tick == ticks) {
        append.add(TestBatches.inline(tick - 1, tick, row(0, 7, tick - 1)));
      }
      append.setProcessingTime(tick * 100L);
      append.processWatermark(tick - 1);
      append.settle();
    }
    append.setProcessingTime(2 * ticks * 100L + 1_000);
    append.settle();
    assertThat(upper(a)).isEqualTo(Frontier.of(2 * ticks));
    assertThat(read(a)).containsExactly("7 x @" + (2 * ticks - 1) + " +1");
    assertThat(TestShards.open(a).list("part/", "", 10)).isEmpty();
    assertThat(TestShards.state(a).batches()).hasSizeLessThanOrEqualTo(2);
    assertThat(appends(a)).as("one an idle interval").isLessThanOrEqualTo(2 * ticks / 10 + 5);
  }

  @Test
  @DisplayName("persist 13: at the end of input all is appended, and nothing after it")
  void endsBehindTheLastRow() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    append.add(TestBatches.inline(100, END, row(0, 2, 250)));
    append.out();
    append.processWatermark(Watermark.MAX_WATERMARK);
    assertThat(append.out())
        .as("done when the call returns")
        .containsExactly("a 251 1", "b 100 0", "W 99", "W " + END);
    assertThat(read(a)).containsExactly("1 x @250 +1", "2 x @250 +1");
    append.endInput();
    OperatorSubtaskState last = snapshot(2);
    append.notifyOfCompletedCheckpoint(2);
    assertThat(append.out()).isEmpty();
    start(last);
    append.settle();
    assertThat(TestShards.updates(a)).hasSize(2);
  }

  @Test
  void makesRoomItselfAtTheEndOfInput() throws Exception {
    shards = new TestShards(SMALL);
    a = shards.shard("a");
    b = shards.shard("b");
    start();
    fill();
    append.add(TestBatches.inline(500, END, row(0, 1000, 5_000)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    assertThat(upper(a)).isEqualTo(Frontier.of(5_001));
    assertThat(read(a)).hasSize(11);
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
    append.settle();
  }

  // ---- Shards side by side

  @Test
  void aFullShardHoldsUpNoOther() throws Exception {
    shards = new TestShards(SMALL);
    a = shards.shard("a");
    b = shards.shard("b");
    start();
    fill();
    assertThat(append.out()).as("three of five fit").contains("a 300 6");
    pass(500, 600, row(0, 9, 550), row(1, 9, 550));
    assertThat(append.out()).contains("b 600 1").doesNotContain("a 600 1");
    assertThat(upper(a)).isEqualTo(Frontier.of(300));
  }

  @Test
  void aStuckRequestHoldsUpNoOtherShard() throws Exception {
    gated();
    start();
    gate.close("a");
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    gate.awaitArrival();
    for (int tick = 1; tick <= 5; tick++) {
      long lower = tick * 100L;
      append.add(
          TestBatches.inline(lower, lower + 100, row(0, 10 + tick, lower), row(1, tick, lower)));
      append.processWatermark(lower + 99);
      while (upper(b).isBefore(Frontier.of(lower + 100))) {
        append.runMail();
      }
    }
    assertThat(upper(a)).isEqualTo(Frontier.MINIMUM);
    gate.open();
    append.settle();
    assertThat(upper(a)).isEqualTo(Frontier.of(600));
    assertThat(read(a)).hasSize(6);
  }

  @Test
  void anAppendThatIsStuckForTooLongFailsTheJob() throws Exception {
    gated();
    settings =
        TestShards.settings(2, 1 << 20, 4 << 10, 256L << 20, Duration.ofMillis(1))
            .withCommit(frontier);
    start();
    gate.close("a");
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    gate.awaitArrival();
    assertThatThrownBy(
            () -> {
              for (int second = 1; second < 60_000; second++) {
                append.settle(1); // the other shard's is done
                append.setProcessingTime(second * 1_000L);
              }
            })
        .hasMessageContaining("an append to shard " + a.url() + " has been under way")
        .hasMessageContaining("spine.max-stall");
  }

  // ---- State while in flight, and restores

  @Test
  void aSnapshotTakenWhileAnAppendIsUnderWayStillHoldsIt() throws Exception {
    gated();
    start();
    gate.close("a");
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.processWatermark(99);
    gate.awaitArrival();
    OperatorSubtaskState lost = snapshot(1);
    gate.open();
    append.settle();
    assertThat(append.out()).containsExactly("a 100 1");
    start(lost); // the append was done all the same
    append.settle();
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1");
    assertThat(appends(a)).isOne();
  }

  @Test
  void whatWasCutOffIsAppendedAfterTheRestore() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 100, row(0, 1, 50)));
    append.add(TestBatches.inline(100, 200, row(0, 2, 150)));
    OperatorSubtaskState before = snapshotWithPromise(200);
    start(before);
    append.settle();
    assertThat(append.out()).contains("a 200 2");
  }

  /** A snapshot of a state that was promised all of its batches, none of which is appended. */
  private OperatorSubtaskState snapshotWithPromise(long upper) throws Exception {
    AppendHarness first = append;
    handOver(a, "test");
    handOver(a, "nobody");
    first.processWatermark(upper - 1);
    first.settle();
    OperatorSubtaskState state = first.snapshot(1, 0);
    handOver(a, "test");
    return state;
  }

  @Test
  @DisplayName("P-XO-03: an older state goes on behind what the log has")
  void anOlderStateGoesOn() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    OperatorSubtaskState older = snapshot(1);
    pass(100, 180, row(0, 2, 150));
    start(older);
    append.settle();
    // What is read again comes in other intervals, without what write knows to be there.
    pass(100, 150);
    append.processWatermark(149);
    pass(150, 300, row(0, 3, 250));
    assertThat(upper(a)).isEqualTo(Frontier.of(300));
    assertThat(read(a)).containsExactly("1 x @299 +1", "2 x @299 +1", "3 x @299 +1");
    assertThat(counter("a.displaced")).as("by ourselves").isZero();
  }

  @Test
  void aRestoredBatchThatTheLogHasPartlyIsCut() throws Exception {
    start();
    append.add(TestBatches.inline(MIN, 300, row(0, 1, 150), row(0, 2, 250)));
    OperatorSubtaskState state = snapshotWithPromise(300);
    stop();
    TestShards.append(a, MIN, 200, row(0, 1, 150));
    handOver(a, "test");
    start(state);
    append.settle();
    assertThat(read(a)).containsExactly("1 x @299 +1", "2 x @299 +1");
  }

  @Test
  @DisplayName("persist 7: a shard behind what was seen of it stops the job, both frontiers named")
  void aLogThatWentBackIsRefused() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    pass(100, 200, row(0, 2, 150));
    OperatorSubtaskState state = snapshot(1);
    stop();
    List<ObjectInfo> entries = TestShards.open(a).list("log/", "", 100);
    TestShards.open(a).delete(List.of(entries.get(entries.size() - 1).key()));
    assertThatThrownBy(() -> start(state))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll("went back", "upper is 100", "has seen 200");
  }

  // ---- New rows on a shard with data

  @Test
  void newRowsWaitForTheCheckpointThatKeepsWhereTheyBegin() throws Exception {
    TestShards.append(a, MIN, 100, row(0, 9, 99));
    settings = settings.withStart(StartMode.APPEND);
    start();
    pass(MIN, 150, row(0, 1, 120));
    assertThat(append.out()).isEmpty();
    OperatorSubtaskState first = snapshot(1);
    append.notifyOfCompletedCheckpoint(1);
    append.settle();
    assertThat(append.out()).contains("a 150 1");
    pass(150, 200, row(0, 2, 160));
    assertThat(append.out()).contains("a 200 1");
    start(first);
    append.settle();
    pass(150, 250, row(0, 3, 220));
    assertThat(read(a)).hasSize(4);
  }

  @Test
  void newRowsThatEndBeforeACheckpointAreAppendedWithTheLastOne() throws Exception {
    settings = settings.withStart(StartMode.APPEND);
    start();
    append.add(TestBatches.inline(MIN, END, row(0, 1, 120)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    append.endInput();
    snapshot(1);
    assertThat(append.out()).isEmpty();
    append.notifyOfCompletedCheckpoint(1);
    assertThat(append.out()).contains("a 121 1");
  }

  @Test
  void aShardWithDataIsRefused() throws Exception {
    TestShards.append(a, MIN, 100, row(0, 9, 99));
    assertThatThrownBy(this::start)
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContaining("start = refuse");
  }

  // ---- Other writers

  private void lenient() {
    settings = settings.withCommit(frontier.withLenient(true));
  }

  @Test
  @DisplayName("persist 8: what another has reached is cut off, the rest is appended")
  void aLenientJobAppendsWhatIsLeft() throws Exception {
    lenient();
    start();
    pass(MIN, 3, row(0, 1, 1));
    other(3, 6, row(0, 100, 4));
    pass(3, 9, row(0, 4, 4), row(0, 7, 7));
    assertThat(upper(a)).isEqualTo(Frontier.of(9));
    assertThat(read(a)).containsExactly("1 x @8 +1", "7 x @8 +1", "100 x @8 +1");
    assertThat(counter("a.displaced")).isPositive();
    pass(9, 12, row(0, 9, 10));
    assertThat(read(a)).hasSize(4);
  }

  @Test
  @DisplayName("persist 8: a strict job stops for good instead, naming who was there")
  void aStrictJobStops() throws Exception {
    start();
    pass(MIN, 3, row(0, 1, 1));
    other(3, 6, row(0, 100, 4));
    assertThatThrownBy(() -> pass(3, 9, row(0, 4, 4), row(0, 7, 7)))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll(
            a.url(), "upper is 6", "knew of 3", "filler (attempt ", "hand-over", "--writer test");
  }

  @Test
  @DisplayName("persist 9: what another has gone past is dropped and counts as nobody's commit")
  void whatIsThereAlreadyIsDropped() throws Exception {
    lenient();
    start();
    pass(MIN, 3, row(0, 1, 1));
    append.out();
    other(3, 20, row(0, 100, 4));
    pass(3, 9, row(0, 4, 4));
    pass(9, 20, row(0, 5, 10));
    assertThat(append.out()).noneMatch(line -> line.startsWith("a "));
    assertThat(counter("a.committed")).isOne();
    assertThat(counter("a.displaced")).isEqualTo(2);
    append.setProcessingTime(1_000);
    append.settle();
    assertThat(append.out()).as("progress moves all the same").contains("W 19");
    assertThat(snapshotHoldsNothing()).isTrue();
  }

  private boolean snapshotHoldsNothing() throws Exception {
    OperatorSubtaskState state = snapshot(9);
    start(state);
    append.settle();
    return append.out().stream().noneMatch(line -> line.startsWith("a "));
  }

  /** Somebody else appends to shard a. */
  private void other(long lower, long upper, Update... rows) throws Exception {
    TestShards.append(a, lower, upper, rows);
  }

  @Test
  @DisplayName("persist 14: a shard that is sealed under a job stops it for good")
  void aSealStopsTheJob() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    TestShards.change(a, new Command.Seal(ShardHandle.newId()), TestShards.author("cli", OTHER));
    assertThatThrownBy(() -> pass(100, 200, row(0, 2, 150)))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll(a.url(), "upper is end", "sealed");
  }

  // ---- Read-only, and handing over

  @Test
  @DisplayName("persist 11: read-only, batches wait and go when the shard is past them")
  void aReadOnlyJobDropsWhatAnotherHasAppended() throws Exception {
    settings = settings.withCommit(frontier.withReadOnly(true));
    start();
    pass(MIN, 100, row(0, 1, 50));
    assertThat(append.out()).isEmpty();
    other(MIN, 150, row(0, 1, 50));
    append.setProcessingTime(1_000);
    append.settle();
    OperatorSubtaskState skipped = snapshot(1);
    pass(100, 200, row(0, 2, 170));
    append.setProcessingTime(2_000);
    append.settle();
    OperatorSubtaskState held = snapshot(2);
    assertThat(appends(a)).as("the other's only").isOne();

    // The other is gone after we let go of the first: the second is still here.
    handOver(a, "test");
    settings = settings.withCommit(frontier);
    start(held);
    append.settle();
    assertThat(append.out()).contains("a 200 1");
    assertThat(read(a)).containsExactly("1 x @199 +1", "2 x @199 +1");
    start(skipped);
    append.settle();
    assertThat(read(a)).hasSize(2);
  }

  @Test
  @DisplayName("persist 12: read-only, an upper that is just the batch's isn't past it")
  void aReadOnlyJobWaitsForTheShardToGoPast() throws Exception {
    settings = settings.withCommit(frontier.withReadOnly(true));
    start();
    pass(MIN, 100, row(0, 1, 50));
    other(MIN, 100, row(0, 1, 50));
    append.setProcessingTime(1_000);
    append.settle();
    assertThat(pending()).isOne();
    TestShards.appendNothing(a, 100, 101);
    append.setProcessingTime(2_000);
    append.settle();
    assertThat(pending()).isZero();
  }

  private long pending() throws Exception {
    return ((AppendOperator) append.getOperator()).pending();
  }

  @Test
  void aReadOnlyJobEndsWhenTheShardIsAsFar() throws Exception {
    settings = settings.withCommit(frontier.withReadOnly(true));
    start();
    other(MIN, 121, row(0, 1, 120));
    append.add(TestBatches.inline(MIN, END, row(0, 1, 120)));
    append.processWatermark(Watermark.MAX_WATERMARK);
    assertThat(pending()).isZero();
    assertThat(appends(a)).isOne();
  }

  @Test
  void aShardIsHandedOverAndBackWhileTheJobRuns() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    handOver(a, "filler");
    pass(100, 200, row(0, 2, 150));
    assertThat(appends(a)).as("not ours any more").isOne();
    other(100, 150, row(0, 102, 120));
    pass(200, 300, row(0, 3, 250));
    handOver(a, "test");
    append.setProcessingTime(1_000);
    append.settle();
    assertThat(upper(a)).isEqualTo(Frontier.of(300));
    assertThat(read(a))
        .as("[100, 150) is the other's")
        .containsExactly("1 x @299 +1", "2 x @299 +1", "3 x @299 +1", "102 x @299 +1");
    pass(300, 400, row(0, 4, 350));
    assertThat(read(a)).hasSize(5);
  }

  @Test
  void aJobThatWasHandedOverFromIsRestoredReadOnly() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    OperatorSubtaskState state = snapshot(1);
    handOver(a, "filler");
    other(100, 200, row(0, 100, 150));
    start(state);
    pass(100, 300, row(0, 2, 250));
    assertThat(upper(a)).isEqualTo(Frontier.of(200));
    handOver(a, "test");
    append.setProcessingTime(1_000);
    append.settle();
    assertThat(read(a)).hasSize(3);
  }

  @Test
  void aYoungerAttemptFencesTheOlderOne() throws Exception {
    start();
    pass(MIN, 100, row(0, 1, 50));
    List<String> younger = new ArrayList<>();
    try (AppendHarness second = AppendHarness.start(List.of(a, b), settings, slots, snapshot(1))) {
      second.add(TestBatches.inline(100, 200, row(0, 2, 150)));
      second.processWatermark(199);
      second.settle();
      younger.addAll(second.out());
    }
    assertThat(younger).contains("a 200 1");
    assertThatThrownBy(() -> pass(100, 300, row(0, 2, 150), row(0, 3, 250)))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContaining("stop the older job");
  }
}
