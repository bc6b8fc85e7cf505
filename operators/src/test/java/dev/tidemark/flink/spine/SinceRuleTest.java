package dev.tidemark.flink.spine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.time.Frontier;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class SinceRuleTest {
  private static final long NOW = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;
  private static final long MINUTE = 60_000;

  private static Frontier next(
      Duration retain, long since, long upper, boolean mergeWanted, long sinceLastMillis) {
    return new SinceRule(retain)
        .next(Frontier.of(since), Frontier.of(upper), mergeWanted, sinceLastMillis);
  }

  @Test
  void staysForEverWithoutRetain() {
    assertThat(next(null, Long.MIN_VALUE, NOW, true, Long.MAX_VALUE)).isNull();
  }

  @Test
  void staysOnAnEmptyAndOnASealedShard() {
    assertThat(next(Duration.ZERO, Long.MIN_VALUE, Long.MIN_VALUE, true, MINUTE)).isNull();
    assertThat(next(Duration.ZERO, 5, Long.MAX_VALUE, true, MINUTE)).isNull();
  }

  @Test
  void keepsTheLastTimeReadableWithRetainZero() {
    assertThat(next(Duration.ZERO, Long.MIN_VALUE, NOW, true, 0)).isEqualTo(Frontier.of(NOW - 1));
    assertThat(next(Duration.ZERO, NOW - 1, NOW, true, MINUTE)).as("there already").isNull();
  }

  @Test
  void withRetainZeroMovesForEachMergeAndElseOnceAMinute() {
    assertThat(next(Duration.ZERO, 5, NOW, true, 1)).isEqualTo(Frontier.of(NOW - 1));
    assertThat(next(Duration.ZERO, 5, NOW, false, MINUTE - 1)).isNull();
    assertThat(next(Duration.ZERO, 5, NOW, false, MINUTE)).isEqualTo(Frontier.of(NOW - 1));
  }

  @Test
  void movesByASixtiethAtLeastAndAtMostOnceAMinute() {
    Duration hour = Duration.ofHours(1);
    long target = NOW - HOUR;
    assertThat(next(hour, target - MINUTE, NOW, false, MINUTE)).isEqualTo(Frontier.of(target));
    assertThat(next(hour, target - MINUTE + 1, NOW, false, MINUTE)).isNull();
    assertThat(next(hour, target - MINUTE, NOW, false, MINUTE - 1)).isNull();
    assertThat(next(hour, Long.MIN_VALUE, NOW, false, MINUTE)).isEqualTo(Frontier.of(target));
  }

  @Test
  void movesByLessForAWantedMerge() {
    Duration hour = Duration.ofHours(1);
    assertThat(next(hour, NOW - HOUR - 1, NOW, true, MINUTE)).isEqualTo(Frontier.of(NOW - HOUR));
    assertThat(next(hour, NOW - HOUR - 1, NOW, true, MINUTE - 1)).isNull();
  }

  @Test
  void neverGoesBack() {
    assertThat(next(Duration.ofHours(1), NOW, NOW, true, MINUTE)).isNull();
  }
}
