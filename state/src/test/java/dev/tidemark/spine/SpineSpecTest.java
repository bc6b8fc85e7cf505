package dev.tidemark.spine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SpineSpecTest {
  @ParameterizedTest
  @CsvSource({
    "1, 16, 24, 1, 2.0, fanIn is 1",
    "8, 14, 24, 1, 2.0, queue is 14: must be at least 2 * fanIn - 1 = 15 runs",
    "8, 16, 15, 1, 2.0, rest is 15: must be at least 2 * fanIn = 16 runs",
    "8, 16, 24, 0, 2.0, baseBytes is 0",
    "8, 16, 24, 1, 1.0, space is 1.0: must be above 1",
    "8, 16, 24, 1, NaN, space is NaN",
    "8, 16, 24, 1, Infinity, space is Infinity",
    "2147483647, 16, 24, 1, 2.0, fanIn is 2147483647",
  })
  void aKnobOutOfRangeIsNamedWithItsRange(
      int fanIn, int queue, int rest, long baseBytes, double space, String message) {
    assertThatThrownBy(() -> new SpineSpec(fanIn, queue, rest, baseBytes, space, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "799, 0",
    "800, 1",
    "6399, 1",
    "6400, 2",
    "51199, 2",
    "51200, 3",
    "9223372036854775807, 18",
  })
  void theNaturalLevelIsTheLogarithmOfTheSize(long bytes, int level) {
    SpineSpec spec = new SpineSpec(8, 16, 24, 100, 2, true);
    assertThat(spec.naturalLevel(bytes)).isEqualTo(level);
  }

  @Test
  void aFreshBatchMayHaveHalfTheFanInAndAtLeastOneRun() {
    assertThat(new SpineSpec(2, 3, 4, 1, 2, true).freshRuns()).isEqualTo(1);
    assertThat(new SpineSpec(3, 5, 6, 1, 2, true).freshRuns()).isEqualTo(1);
    assertThat(SpineSpec.DEFAULT.freshRuns()).isEqualTo(4);
  }

  @Test
  void theBoundsOfTheDefaultSpecAreThoseOfItsFormulas() {
    // M = 50,000 runs of 1 MB: log_8(50,000 + 4 * 47,684) = 5.96, and one for rule 6.
    Bounds single = Bounds.ofSingleRuns(SpineSpec.DEFAULT, 50_000, 50_000_000_000L);
    assertThat(single.depth()).isCloseTo(6.96, within(0.01));
    assertThat(single.runs()).isEqualTo(16 * 7);
    assertThat(single.runsAtRest()).isEqualTo(24);
    assertThat(single.writes()).isCloseTo(6.96 + 2 + 1, within(0.01));
    assertThat(single.writesAtWorst()).isCloseTo(6.96 + 2 + 4, within(0.01));
    assertThat(single.space()).isEqualTo(2.0);
    // With several runs a batch every byte may weigh N + 4 instead of 4.
    Bounds several = Bounds.of(SpineSpec.DEFAULT, 50_000, 50_000_000_000L);
    assertThat(several.depth()).isCloseTo(7.42, within(0.01));
  }

  @Test
  void beforeTheFirstAppendThereIsOneLevelAndThatOfRule6() {
    assertThat(Bounds.of(SpineSpec.DEFAULT, 0, 0).runs()).isEqualTo(32);
  }
}
