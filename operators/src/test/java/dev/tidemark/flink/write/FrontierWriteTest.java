package dev.tidemark.flink.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.shard.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Write with commit = frontier: which rows enter. */
@Timeout(60)
final class FrontierWriteTest {
  private static final long MIN = Long.MIN_VALUE;

  private final TestShards shards = new TestShards();
  private final List<ShardTarget> targets = List.of(shards.shard("a"), shards.shard("b"));
  private final SlotKeys slots = new SlotKeys(2, 1, WriteHarness.KEY_GROUPS);
  private WriteHarness write;

  private void start(LateRows late, OperatorSubtaskState state) throws Exception {
    stop();
    SinkSettings settings =
        TestShards.settings(1, 1 << 20, 64 << 10)
            .withCommit(CommitSettings.frontier(Duration.ofSeconds(1), late));
    write = WriteHarness.start(new WriteOptions(targets, settings), state);
  }

  @AfterEach
  void stop() {
    if (write != null) {
      write.close();
      write = null;
    }
  }

  private Update update(int shard, long id, long time) {
    return TestShards.row(slots, shard, id, "x", time, 1);
  }

  private void row(long id, long time) throws Exception {
    write.row(update(0, id, time));
  }

  private void error(String reason, long time) throws Exception {
    write.row(TestShards.error(slots, 0, reason, time));
  }

  private long count(String name) {
    return (Long)
        write
            .getOperator()
            .getRuntimeContext()
            .getAccumulator("tidemark.a." + name)
            .getLocalValue();
  }

  private void assertCounts(long late, long replayed) {
    assertThat(count("late")).as("late").isEqualTo(late);
    assertThat(count("replayed")).as("replayed").isEqualTo(replayed);
    assertThat(count("stored") + count("error")).as("taken back").isEqualTo(-late - replayed);
  }

  @Test
  @DisplayName("P-TW-01: on the boundary: 999 and 1000 are late behind watermark 1000, 1001 isn't")
  void theBoundaryIsWhereTheWatermarkIs() throws Exception {
    start(LateRows.DROP, null);
    row(1, 500);
    write.describe(MIN, 1001);
    write.passed(1000);
    row(999, 999);
    row(1000, 1000);
    row(1001, 1001);
    write.describe(1001, 2001);
    write.passed(2000);
    assertThat(write.out())
        .containsExactly("a [min, 1001): 1@500", "W 1000", "a [1001, 2001): 1001@1001", "W 2000");
    assertCounts(2, 0);
  }

  @Test
  @DisplayName("persist 1: rows before the lower are dropped and not counted as staged")
  void lateRowsAreDropped() throws Exception {
    start(LateRows.DROP, null);
    write.describe(MIN, 5);
    write.passed(4);
    row(1, 2);
    row(2, 6);
    write.describe(5, 8);
    write.passed(7);
    assertThat(write.out()).containsExactly("W 4", "a [5, 8): 2@6", "W 7");
    assertThat(count("staged")).isOne();
    assertThat(count("retimed")).isZero();
    assertCounts(1, 0);
  }

  @Test
  @DisplayName("persist 4: a description before or after its rows waits for the rows' watermark")
  void aDescriptionWaitsForTheWatermarkOfItsRows() throws Exception {
    start(LateRows.FAIL, null);
    write.describe(MIN, 100);
    row(1, 50);
    write.processWatermark1(new Watermark(98));
    row(2, 99);
    assertThat(write.out()).isEmpty();
    write.passed(99);
    assertThat(write.out()).containsExactly("a [min, 100): 1@50 2@99", "W 99");
    row(3, 150);
    write.describe(100, 200);
    write.passed(199);
    assertThat(write.out()).containsExactly("a [100, 200): 3@150", "W 199");
  }

  @Test
  void aLateRowStopsTheJobAndIsNamed() throws Exception {
    start(LateRows.FAIL, null);
    write.describe(MIN, 100);
    write.passed(99);
    assertThatThrownBy(() -> row(17, 40))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll(
            targets.get(0).url(),
            "(id = 17) of time 40",
            "below 100 are closed",
            "source.watermark-delay");
  }

  /** What was closed before the checkpoint is closed in the attempt that goes on from it. */
  @Test
  void aLateRowRightAfterARestoreIsLate() throws Exception {
    start(LateRows.DROP, null);
    row(1, 50);
    write.describe(MIN, 100);
    row(2, 150);
    OperatorSubtaskState state = write.barrier();
    start(LateRows.DROP, state);
    row(3, 40);
    row(4, 160);
    write.describe(100, 200);
    write.passed(199);
    assertThat(write.out()).containsExactly("a [100, 200): 2@150 4@160", "W 199");
    assertCounts(1, 0);
    start(LateRows.FAIL, state);
    assertThatThrownBy(() -> row(3, 40)).isInstanceOf(StopForGoodException.class);
  }

  @Test
  @DisplayName("P-XO-03: rows that the log has are replayed, not late, and counted once a record")
  void whatTheLogHasIsReplayed() throws Exception {
    start(LateRows.FAIL, null);
    row(1, 50);
    write.describe(MIN, 100);
    OperatorSubtaskState older = write.barrier();
    TestShards.append(targets.get(0), MIN, 180, update(0, 1, 50));
    start(LateRows.FAIL, older);
    row(2, 120);
    Update companion = update(0, 2, 120);
    companion.companion = true;
    write.row(companion);
    row(3, 180);
    write.row(update(1, 4, 120));
    write.describe(100, 150);
    write.passed(149);
    write.describe(150, 250);
    write.passed(249);
    assertThat(write.out())
        .containsExactly("b [100, 150): 4@120", "W 149", "a [150, 250): 3@180", "W 249");
    assertCounts(0, 1);
  }

  @Test
  void countsGoBackWithTheRows() throws Exception {
    start(LateRows.DROP, null);
    write.describe(MIN, 100);
    write.barrier();
    row(1, 40);
    OperatorSubtaskState state = write.barrier();
    row(2, 40);
    assertCounts(2, 0);
    start(LateRows.DROP, state);
    assertCounts(1, 0);
    row(2, 40);
    assertCounts(2, 0);
  }

  @Test
  void errorRowsThatCannotBePlacedAreKeptBehindWhatTheLogHas() throws Exception {
    TestShards.append(targets.get(0), MIN, 180, update(0, 1, 50));
    start(LateRows.FAIL, null);
    write.describe(MIN, 100);
    write.passed(99);
    error("timeless", MIN);
    error("late", 40);
    error("there", 120);
    error("new", 190);
    write.describe(100, 150);
    write.passed(149);
    write.describe(150, 250);
    write.passed(249);
    assertThat(write.out())
        .containsExactly(
            "W 99", "W 149", "a [150, 250): !late @180 !new @190 !timeless @180", "W 249");
    assertCounts(0, 1);
  }

  /** mint has ticked for a checkpoint that was aborted, which this subtask learnt early. */
  @Test
  void whatAnAbortedCheckpointLeftOpenClosesInOrder() throws Exception {
    start(LateRows.FAIL, null);
    row(1, 50);
    write.describe(MIN, 100);
    row(2, 150);
    write.describe(100, 200);
    row(3, 99); // its description is open: not late
    write.barrier();
    assertThat(write.out())
        .containsExactly("a [min, 100): 1@50 3@99", "W 99", "a [100, 200): 2@150", "W 199");
  }

  @Test
  void aSealedShardIsRefused() throws Exception {
    TestShards.append(targets.get(0), MIN, 100, update(0, 1, 50));
    TestShards.change(
        targets.get(0),
        new Command.Seal("seal"),
        TestShards.author("cli", "2026-01-01T00:00:00.000Z"));
    assertThatThrownBy(() -> start(LateRows.FAIL, null))
        .isInstanceOf(StopForGoodException.class)
        .hasMessageContainingAll(targets.get(0).url(), "sealed");
  }

  /** Times over a day, displaced by up to six hours; the model decides by the same arrivals. */
  @ParameterizedTest(name = "bound {0} h")
  @CsvSource({"6", "1"})
  @DisplayName("P-TW-05: out of order by hours: what is late is what the model says")
  void outOfOrderByHours(int boundHours) throws Exception {
    int rows = 100_000;
    long hour = 3_600_000;
    long step = 24 * hour / rows;
    start(LateRows.DROP, null);
    SplittableRandom random = new SplittableRandom(7);
    List<long[]> arrivals = new ArrayList<>(); // (when it comes, its time)
    for (int i = 0; i < rows; i++) {
      arrivals.add(new long[] {i * step + random.nextLong(6 * hour), i * step});
    }
    arrivals.sort((x, y) -> Long.compare(x[0], y[0]));
    long greatest = 0;
    long closed = MIN;
    long late = 0;
    for (int i = 0; i < rows; i++) {
      long time = arrivals.get(i)[1];
      late += time < closed ? 1 : 0;
      row(i, time);
      greatest = Math.max(greatest, time);
      long upper = greatest - boundHours * hour;
      if (i % 1_000 == 999 && upper > closed) {
        write.describe(closed, upper);
        write.passed(upper - 1);
        closed = upper;
      }
    }
    write.describe(closed, Long.MAX_VALUE);
    write.processWatermark1(Watermark.MAX_WATERMARK);
    assertThat(late > 0).isEqualTo(boundHours < 6);
    assertCounts(late, 0);
    assertThat(count("staged")).isEqualTo(rows - late);
    assertThat(count("retimed")).isZero();
  }
}
