package dev.tidemark.flink.pressure;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ReportedPressuresTest {
  private final ReportedPressures reports = new ReportedPressures();

  @Test
  void nobodyPressesAtFirst() {
    assertThat(reports.greatest(0)).isZero();
  }

  @Test
  void theGreatestOfAllSubtasksCountsAndFallsAgain() {
    reports.report("append", 0, 2, 0.3, 0);
    reports.report("append", 1, 2, 1, 0);
    assertThat(reports.greatest(1)).isEqualTo(1);
    reports.report("append", 1, 2, 0.1, 1_000);
    assertThat(reports.greatest(1_000)).isEqualTo(0.3);
    reports.report("append", 0, 2, 0, 1_000);
    assertThat(reports.greatest(1_000)).isEqualTo(0.1);
    reports.report("append", 1, 2, 0, 2_000);
    assertThat(reports.greatest(2_000)).isZero();
  }

  @Test
  void whatADeadSubtaskSaidIsForgotten() {
    reports.report("append", 0, 2, 1, 0);
    reports.report("append", 1, 2, 0.5, 4_000);
    assertThat(reports.greatest(ReportedPressures.LIFE_MILLIS)).isEqualTo(1);
    assertThat(reports.greatest(ReportedPressures.LIFE_MILLIS + 1)).isEqualTo(0.5);
    assertThat(reports.greatest(4_001 + ReportedPressures.LIFE_MILLIS)).isZero();
  }

  @Test
  void aRestartReplacesWhatItsSubtasksSaid() {
    reports.report("append", 0, 4, 1, 0);
    reports.report("append", 3, 4, 1, 0);
    reports.report("append", 0, 2, 0, 10);
    assertThat(reports.greatest(10)).as("there is no fourth subtask any more").isZero();
  }

  @Test
  void twoSinksOfAJobDontOverwriteEachOther() {
    reports.report("one", 0, 1, 1, 0);
    reports.report("other", 0, 1, 0, 0);
    assertThat(reports.greatest(0)).isEqualTo(1);
  }
}
