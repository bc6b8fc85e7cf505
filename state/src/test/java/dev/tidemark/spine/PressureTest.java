package dev.tidemark.spine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PressureTest {
  /** It begins at 14 of N = 8 to K = 16, at 2.75 of 2 to 3, at 79.25 of 8 to 103. */
  @ParameterizedTest
  @CsvSource({
    "8, 16, 0, 0",
    "8, 16, 8, 0",
    "8, 16, 14, 0",
    "8, 16, 15, 0.3333",
    "8, 16, 16, 0.6667",
    "8, 16, 40, 0.6667",
    "2, 3, 2, 0",
    "2, 3, 3, 0.2",
    "8, 103, 79, 0",
    "8, 103, 80, 0.0303",
    "8, 103, 92, 0.5152",
    "8, 103, 103, 0.9596",
  })
  void itRisesFromThreeQuartersOfTheWayBetweenNAndK(
      int fanIn, int queue, int count, double pressure) {
    SpineSpec spec = new SpineSpec(fanIn, queue, 2 * fanIn, 1, 2, true);
    assertThat(Pressure.of(spec, count, false)).isCloseTo(pressure, within(0.0001));
  }

  @Test
  void aRefusedAppendPressesAsMuchAsCanBeWhateverTheCount() {
    assertThat(Pressure.of(SpineSpec.DEFAULT, 13, true)).isEqualTo(1);
    assertThat(Pressure.of(SpineSpec.DEFAULT, 16, true)).isEqualTo(1);
  }

  @Test
  void withoutARefusalItNeverComesToOne() {
    for (int fanIn = 2; fanIn < 20; fanIn++) {
      for (int queue = 2 * fanIn - 1; queue < 5 * fanIn; queue++) {
        SpineSpec spec = new SpineSpec(fanIn, queue, 2 * fanIn, 1, 2, true);
        double last = 0;
        for (int count = 0; count <= queue + 3; count++) {
          double pressure = Pressure.of(spec, count, false);
          assertThat(pressure).isBetween(last, 0.9999);
          last = pressure;
        }
        assertThat(last).as("at K").isPositive();
      }
    }
  }
}
