package dev.tidemark.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FrontierTest {
  @ParameterizedTest
  @ValueSource(
      longs = {Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0, 1, Long.MAX_VALUE - 2, Long.MAX_VALUE})
  void aWatermarkComesBackFromItsFrontier(long watermark) {
    assertThat(Frontier.ofWatermark(watermark).watermark()).isEqualTo(watermark);
  }

  @Test
  void aWatermarkSaysThatItsOwnTimeHasPassed() {
    assertThat(Frontier.ofWatermark(5).hasPassed(5)).isTrue();
    assertThat(Frontier.ofWatermark(5).hasPassed(6)).isFalse();
  }

  @Test
  void theEndsHaveNames() {
    assertThat(Frontier.MINIMUM).hasToString("min");
    assertThat(Frontier.END).hasToString("end");
    assertThat(Frontier.of(-7)).hasToString("-7");
    assertThat(new BatchDescription(Frontier.of(1), Frontier.END)).hasToString("[1, end)");
  }

  @Test
  void laterAndEarlierAreByTime() {
    Frontier one = Frontier.of(1);
    assertThat(one.max(Frontier.END)).isEqualTo(Frontier.END);
    assertThat(one.min(Frontier.MINIMUM)).isEqualTo(Frontier.MINIMUM);
    assertThat(one.isBefore(one)).isFalse();
    assertThat(one.isAfter(Frontier.MINIMUM)).isTrue();
  }

  @Test
  void anIntervalHasAtLeastOneTime() {
    assertThatThrownBy(() -> new BatchDescription(Frontier.of(3), Frontier.of(3)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("empty interval [3, 3)");
    BatchDescription interval = new BatchDescription(Frontier.of(3), Frontier.of(5));
    assertThat(interval.contains(4)).isTrue();
    assertThat(interval.contains(5)).isFalse();
    assertThat(interval.contains(2)).isFalse();
  }
}
