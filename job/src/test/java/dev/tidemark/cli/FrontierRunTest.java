package dev.tidemark.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of commit = frontier, as a user meets them: without checkpoints, and once more by time. */
class FrontierRunTest {
  /** So many rows a second that they come for two: some are late however slow the machine is. */
  private static final int SLOWLY = 500;

  @TempDir private Path warehouse;

  private Said run(int rows, int rate, String... more) {
    List<String> frontier =
        List.of("--commit", "frontier", "--mint.interval", "50 ms", "--checkpoint.interval", "off");
    return NumbersRun.run(warehouse, rows, rate, frontier, more);
  }

  @Test
  void whatWasReadBeforeIsReplayed() {
    Said first = run(1000, SLOWLY, "--late", "drop", "--source.late-share", "0.05");
    assertThat(first.code()).as(first.err()).isZero();
    assertThat(first.out())
        .contains("\"read\":1000,")
        .contains("\"replayed\":0,")
        .doesNotContain("\"late\":0,");
    Said refused = run(1500, 2_000);
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err()).contains("start = refuse");
    Said again = run(1500, 2_000, "--start", "resume-by-time");
    assertThat(again.code()).as(again.err()).isZero();
    assertThat(again.out())
        .contains("\"read\":1500,\"stored\":500,\"error\":0,\"late\":0,\"replayed\":1000,");
  }

  @Test
  void aLateRowStopsTheRunUnlessItIsToldOtherwise() {
    Said said = run(1000, SLOWLY, "--source.late-share", "0.05");
    assertThat(said.code()).isEqualTo(4);
    assertThat(said.err()).contains("a row came late: (k = ").contains("late = fail");
  }
}
