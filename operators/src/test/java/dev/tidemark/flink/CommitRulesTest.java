package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.decode.Envelope;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of docs/operations.md, row by row; refusals name the keys and the mend. */
final class CommitRulesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        // commit | late | start | envelope | read-only | lenient | checkpoints | names
        "CHECKPOINT | RETIME | REFUSE         | CHANGELOG | false | false | true  | -",
        "CHECKPOINT | RETIME | APPEND         | UPSERT    | false | false | true  | -",
        "CHECKPOINT | RETIME | RESUME_BY_TIME | APPEND    | false | false | true  | -",
        "CHECKPOINT | RETIME | REFUSE         | APPEND    | false | false | false | set checkpoint.interval, or commit = frontier",
        "CHECKPOINT | DROP   | REFUSE         | APPEND    | false | false | true  | late = drop needs commit = frontier",
        "CHECKPOINT | FAIL   | REFUSE         | APPEND    | false | false | true  | late = fail needs commit = frontier",
        "CHECKPOINT | RETIME | REFUSE         | APPEND    | true  | false | true  | read-only = true needs commit = frontier",
        "CHECKPOINT | RETIME | REFUSE         | APPEND    | false | true  | true  | on-concurrent-writer = lenient needs commit = frontier",
        "FRONTIER   | RETIME | REFUSE         | APPEND    | false | false | true  | late = retime needs commit = checkpoint",
        "FRONTIER   | FAIL   | REFUSE         | UPSERT    | false | false | true  | -",
        "FRONTIER   | FAIL   | RESUME_BY_TIME | CHANGELOG | false | false | false | -",
        "FRONTIER   | FAIL   | APPEND         | APPEND    | false | false | true  | -",
        "FRONTIER   | FAIL   | APPEND         | APPEND    | false | false | false | start = append with commit = frontier waits for the first checkpoint",
        "FRONTIER   | DROP   | REFUSE         | APPEND    | false | false | true  | -",
        "FRONTIER   | DROP   | REFUSE         | CHANGELOG | false | false | true  | late = drop and envelope = changelog (shard a)",
        "FRONTIER   | DROP   | REFUSE         | UPSERT    | false | false | true  | late = drop and envelope = upsert (shard a)",
        "FRONTIER   | FAIL   | REFUSE         | CHANGELOG | true  | true  | true  | -",
        "FRONTIER   | FAIL   | REFUSE         | UPSERT    | true  | false | true  | read-only = true and envelope = upsert (shard a)",
        "FRONTIER   | FAIL   | REFUSE         | UPSERT    | false | true  | true  | on-concurrent-writer = lenient and envelope = upsert (shard a)",
      })
  void whatDoesNotGoTogetherIsRefused(
      CommitMode mode,
      LateRows late,
      StartMode start,
      Envelope envelope,
      boolean readOnly,
      boolean lenient,
      boolean checkpointing,
      String names) {
    CommitSettings commit =
        new CommitSettings(mode, Duration.ofSeconds(1), late, readOnly, lenient);
    var refusal = CommitRules.refusal(commit, start, checkpointing, Map.of("a", envelope));
    if (names == null) {
      assertThat(refusal).isEmpty();
    } else {
      assertThat(refusal).hasValueSatisfying(line -> assertThat(line).contains(names));
      assertThat(refusal.orElseThrow()).doesNotContain("\n");
    }
  }

  @ParameterizedTest
  @CsvSource({"9, true", "10, false"})
  void anIntervalMayBeTooShort(long millis, boolean refused) {
    CommitSettings commit = CommitSettings.frontier(Duration.ofMillis(millis), LateRows.FAIL);
    assertThat(CommitRules.refusal(commit, StartMode.REFUSE, true, Map.of()).isPresent())
        .isEqualTo(refused);
  }
}
