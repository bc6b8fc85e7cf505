package dev.tidemark.spine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The closed forms of docs/spec.md, by hand. */
final class CostTest {
  private static final SpineSpec SPEC = SpineSpec.DEFAULT;

  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "16777216, 1", // in one piece
    "16777217, 4", // begin, two pieces, end
    "134217728, 10", // a whole part: eight pieces
    "134217729, 14", // two parts of five pieces
  })
  void anObjectGoesUpInPieces(double bytes, double puts) {
    assertThat(Cost.putsOf(bytes)).isEqualTo(puts);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1",
    "8388607, 1", // whole
    "8388608, 3", // two for the footer, one row group
    "134217728, 10",
    "268435456, 20",
  })
  void aRunIsReadByRowGroups(double bytes, double gets) {
    assertThat(Cost.getsOf(bytes)).isEqualTo(gets);
  }

  @Test
  void aSmallCommitIsOnePut() {
    // 1 KB/s each 10 s: inline. 259,200 commits a month, a seventh as many merges.
    Load load = new Load(1000, 10_000, 1, 1, 1, 0);
    Cost cost = Cost.of(SPEC, load);
    assertThat(cost.commits()).isCloseTo(259_200, within(1e-6));
    assertThat(cost.merges()).isCloseTo(259_200 / 7.0, within(1e-6));
    double versions = 259_200 + 259_200 / 7.0 + 43_200;
    assertThat(cost.puts()).isCloseTo(versions * 65 / 64 + 259_200 / 7.0, within(1e-3));
    double chunks = 1000.0 * 30 * 86_400 * load.bounds(SPEC).depth() / (256 << 20);
    assertThat(cost.gets()).isCloseTo(259_200 * 8 / 7.0 + 2 * 8 * chunks, within(1e-3));
  }

  @Test
  void aLargerCommitIsOnePutMoreForEachRun() {
    Load small = new Load(4 * 6553, 10_000, 4, 1, 1, 0);
    Load large = new Load(4 * 6554, 10_000, 4, 1, 1, 0);
    assertThat(Cost.of(SPEC, large).puts() - Cost.of(SPEC, small).puts())
        .isCloseTo(4 * 259_200.0, within(1.0));
  }

  @Test
  void whatNothingRetractsIsStoredAsOftenAsItIsAppended() {
    Load load = new Load(1_000_000, 10_000, 1, 12, 1, 0);
    double appended = 1e6 * 30 * 86_400 * 12;
    double replaced = 1e6 * 3600 * (load.bounds(SPEC).depth() + 1);
    assertThat(Cost.of(SPEC, load).storedBytes()).isCloseTo(appended + replaced, within(1.0));
    Load updates = new Load(1_000_000, 10_000, 1, 12, 0, 60_000);
    assertThat(Cost.of(SPEC, updates).storedBytes())
        .isCloseTo((8 << 20) + 6e7 + 1e6 * 3600 * updates.bounds(SPEC).writes(), within(1.0));
  }

  @Test
  void shardsAddUp() {
    Load load = new Load(1000, 10_000, 1, 1, 0.5, 3_600_000);
    Cost one = Cost.of(SPEC, load);
    assertThat(one.times(3).puts()).isEqualTo(3 * one.puts());
    assertThat(one.times(3).storedBytes()).isEqualTo(3 * one.storedBytes());
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1, 1, 1, 0, the rate must be above 0",
    "NaN, 1, 1, 1, 1, 0, the rate must be above 0",
    "1, 0, 1, 1, 1, 0, the commit interval must be at least 1 ms",
    "1, 1, 0, 1, 1, 0, the runs a commit must be at least 1",
    "1, 1, 1, 0, 1, 0, the months must be above 0",
    "1, 1, 1, 1, 1.5, 0, the kept share must be from 0 to 1",
    "1, 1, 1, 1, 1, -1, the retain must be at least 0",
  })
  void aFigureOutOfRangeIsNamed(
      double rate, long commit, int runs, double months, double kept, long retain, String says) {
    assertThatThrownBy(() -> new Load(rate, commit, runs, months, kept, retain))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(says);
  }
}
