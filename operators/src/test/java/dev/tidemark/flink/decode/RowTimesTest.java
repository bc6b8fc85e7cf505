package dev.tidemark.flink.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.decode.RowTimes.Progress;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Where event time stands, by who has spoken and when. */
class RowTimesTest {
  private static final Duration IDLE = Duration.ofSeconds(5);
  private static final long TEN = 10 * 3_600_000L;
  private static final long NOON = 12 * 3_600_000L;

  private static RowTimes times(long delayMillis, Duration idle, String... partitions) {
    RowTimes times =
        new RowTimes(new WatermarkSettings(Duration.ofMillis(delayMillis), idle, true), 0);
    for (String partition : partitions) {
      times.assigned(partition, 0);
    }
    return times;
  }

  private static Progress at(long watermark) {
    return new Progress(watermark, false);
  }

  @Test
  void theLeastPartitionIsTheWatermark() {
    RowTimes times = times(10, null, "t-0", "t-1");
    times.row("t-0", 1_000);
    assertThat(times.tick(1)).isEqualTo(at(Long.MIN_VALUE));
    times.row("t-1", 500);
    times.row("t-1", 400);
    assertThat(times.tick(2)).isEqualTo(at(489));
    times.row("t-1", 2_000);
    assertThat(times.tick(3)).isEqualTo(at(989));
  }

  @Test
  @DisplayName("P-TW-02: a partition that never speaks, idleness on")
  void whoNeverSpeaksIsLeftOutWhereIdlenessIsOn() {
    RowTimes times = times(0, IDLE, "t-0", "t-1", "t-2");
    times.row("t-0", 1_000);
    assertThat(times.tick(1)).isEqualTo(at(Long.MIN_VALUE));
    times.row("t-0", 2_000);
    assertThat(times.tick(5_000)).as("no time is invented").isEqualTo(at(1_999));
    assertThat(times.newlySilent(60_000)).as("nobody holds it").isEmpty();
  }

  @Test
  @DisplayName("P-TW-02: a partition that never speaks, idleness off")
  void whoNeverSpeaksIsNamedWhereIdlenessIsOff() {
    RowTimes times = times(0, null, "t-0", "t-1", "t-2");
    for (long second = 1; second <= 60; second++) {
      times.row("t-0", second * 1_000);
      assertThat(times.tick(second * 1_000)).isEqualTo(at(Long.MIN_VALUE));
    }
    assertThat(times.newlySilent(60_000)).containsExactly("t-1", "t-2");
    assertThat(times.silent()).isEqualTo(2);
    assertThat(times.newlySilent(70_000)).as("once each").isEmpty();
    assertThat(times.silent()).isEqualTo(2);
    times.row("t-1", 5);
    times.row("t-2", 7);
    times.row("t-0", 61_000);
    times.tick(80_000);
    assertThat(times.newlySilent(80_000)).isEmpty();
    assertThat(times.silent()).isZero();
    assertThat(times.newlySilent(111_000)).as("it alone holds the others").containsExactly("t-1");
  }

  @Test
  @DisplayName("P-TW-02: more readers than partitions")
  void aReaderWithoutPartitionsHoldsNothingForLong() {
    RowTimes times = times(0, null);
    assertThat(times.tick(RowTimes.ASSIGNMENT_MILLIS - 1)).isEqualTo(at(Long.MIN_VALUE));
    assertThat(times.tick(RowTimes.ASSIGNMENT_MILLIS))
        .isEqualTo(new Progress(Long.MIN_VALUE, true));
    times.assigned("t-7", 20_000);
    assertThat(times.tick(20_001)).as("found while running").isEqualTo(at(Long.MIN_VALUE));
  }

  @Test
  @DisplayName("P-TW-03: an idle partition wakes up with a backlog")
  void whoWakesUpHoldsTheWatermarkAgain() {
    RowTimes times = times(0, IDLE, "t-0", "t-1");
    times.row("t-0", TEN);
    times.row("t-1", TEN);
    assertThat(times.tick(0)).isEqualTo(at(TEN - 1));
    for (long second = 1; second <= 10; second++) {
      times.row("t-0", TEN + (NOON - TEN) / 10 * second);
      times.tick(second * 1_000);
    }
    assertThat(times.tick(10_000)).isEqualTo(at(NOON - 1));
    for (int row = 0; row < 500; row++) {
      times.row("t-1", TEN + row * 10_000L);
    }
    times.row("t-0", NOON + 60_000);
    assertThat(times.tick(11_000).watermark()).as("it holds again").isLessThan(NOON - 1);
    times.row("t-1", NOON + 30_000);
    assertThat(times.tick(12_000)).isEqualTo(at(NOON + 30_000 - 1));
  }

  @Test
  @DisplayName("P-TW-03: it doesn't matter who fell idle first")
  void whenAllAreIdleTheLatestRowCounts() {
    for (String first : new String[] {"t-0", "t-1"}) {
      String other = first.equals("t-0") ? "t-1" : "t-0";
      RowTimes times = times(100, IDLE, "t-0", "t-1");
      times.row(first, first.equals("t-0") ? 1_000 : 2_000);
      times.tick(0);
      times.row(other, other.equals("t-0") ? 1_000 : 2_000);
      times.tick(3_000);
      times.tick(6_000);
      assertThat(times.tick(8_000)).isEqualTo(new Progress(2_000, true));
    }
  }

  @Test
  void theLastRowsBeforeAPauseCanBeRead() {
    RowTimes times = times(60_000, IDLE, "t-0");
    times.row("t-0", 100_000);
    assertThat(times.tick(0)).isEqualTo(at(39_999));
    assertThat(times.tick(4_999)).isEqualTo(at(39_999));
    assertThat(times.tick(5_000)).isEqualTo(new Progress(100_000, true));
    times.row("t-0", 90_000);
    assertThat(times.tick(5_001)).as("the delay holds again").isEqualTo(at(39_999));
  }

  @Test
  void aPartitionThatIsOverHoldsNothing() {
    RowTimes times = times(10, null, "a", "b");
    times.row("a", 1_000);
    times.row("b", 500);
    times.over("a");
    assertThat(times.tick(1)).isEqualTo(at(489));
    times.over("b");
    assertThat(times.tick(2)).isEqualTo(new Progress(989, true));
    times.assigned("c", 3);
    assertThat(times.tick(3)).isEqualTo(at(Long.MIN_VALUE));
    times.row("c", 2_000);
    assertThat(times.tick(4)).isEqualTo(at(1_989));
  }

  @Test
  void theLastRowsOfPartitionsThatAreOverCanBeRead() {
    RowTimes times = times(60_000, IDLE, "a");
    times.row("a", 100_000);
    times.tick(0);
    times.over("a");
    assertThat(times.tick(1_000)).isEqualTo(new Progress(39_999, true));
    assertThat(times.tick(5_999)).isEqualTo(new Progress(39_999, true));
    assertThat(times.tick(6_000)).isEqualTo(new Progress(100_000, true));
  }

  @Test
  @DisplayName("P-TW-06: times before 1970")
  void timesBefore1970() {
    RowTimes times = times(0, null, "t-0");
    long watermark = Long.MIN_VALUE;
    for (long time : new long[] {-446_751_900_000L, -1_500, -500, -1, 0, 1}) {
      times.row("t-0", time);
      assertThat(times.tick(1)).isEqualTo(at(time - 1));
      assertThat(time - 1).isGreaterThan(watermark);
      watermark = time - 1;
    }
    RowTimes least = times(1_000, null, "t-0");
    least.row("t-0", Long.MIN_VALUE + 1_000);
    assertThat(least.tick(1)).as("no overflow").isEqualTo(at(Long.MIN_VALUE));
  }

  @Test
  void oneSequenceNeedsNoMarks() {
    RowTimes times = new RowTimes(new WatermarkSettings(Duration.ZERO, null, false), 0);
    times.row("a.jsonl", 10);
    times.row("b.jsonl", 5);
    assertThat(times.tick(1)).isEqualTo(at(9));
  }
}
