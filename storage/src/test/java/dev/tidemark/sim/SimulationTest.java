package dev.tidemark.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A few hundred histories of the whole protocol, and proof that they would notice: each broken form
 * of it is caught. {@code -Dtidemark.seeds=1,2,3} plays these seeds only; {@code scripts/simulate}
 * plays as many as wanted.
 */
class SimulationTest {
  private static final long STEPS = 500;
  private static final int HISTORIES = 200;
  private static final int MOST_TO_CATCH = 1000;
  private static final int FEW_TRIES = 40;

  /** Each lost answer is worth a warning, and here there are thousands. */
  @BeforeAll
  static void warnOfNothing() {
    Configurator.setLevel("dev.tidemark", Level.ERROR);
  }

  @AfterAll
  static void warnAgain() {
    Configurator.setLevel("dev.tidemark", Level.WARN);
  }

  @Test
  void noHistoryBreaksAnInvariant() {
    Map<String, Long> counts = new TreeMap<>();
    // Side by side: histories share nothing. Their outcomes are looked at in the order of seeds.
    List<Simulate.Played> played =
        Arrays.stream(seeds())
            .parallel()
            .mapToObj(seed -> Script.of(seed, STEPS, Mutant.NONE))
            .map(script -> new Simulate.Played(script, History.play(script, false)))
            .toList();
    for (Simulate.Played history : played) {
      if (history.outcome().violation() != null) {
        fail(report(history.script(), history.outcome()));
      }
      history.outcome().counts().forEach((what, count) -> counts.merge(what, count, Long::sum));
    }
    if (System.getProperty("tidemark.seeds", "").isEmpty()) {
      assertThat(counts.keySet())
          .as("something of each kind happened")
          .contains("commit append", "commit install", "commit promote", "commit since")
          .contains("lost races", "stale handles", "strays", "rollups")
          .contains("commit alter", "commit hand-over", "commit seal", "commit retire")
          .contains("commit forget-errors", "commit sweep", "commit discard")
          .contains("parts deleted", "entries deleted", "rollups deleted")
          .contains("orphans deleted", "uploads dropped", "holds lost")
          .containsAll(Arrays.stream(Fault.ALL).map(fault -> "fault " + fault).toList());
    }
  }

  @Test
  void aSeedGivesTheSameHistoryEveryTime() {
    for (long seed = 1; seed <= 5; seed++) {
      Script script = Script.of(seed, STEPS, Mutant.NONE);
      assertThat(History.play(script, true).lines())
          .as("seed " + seed)
          .isEqualTo(History.play(script, true).lines());
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void aBrokenProtocolIsCaughtAndItsHistoryShrunk(Mutant mutant) {
    Simulate.Played caught =
        Simulate.Played.by(mutant, mutant.seed(), 1, STEPS)
            .or(() -> Simulate.Played.by(mutant, 1, MOST_TO_CATCH, STEPS))
            .orElse(null);
    assertThat(caught).as(mutant + " in " + MOST_TO_CATCH + " histories").isNotNull();
    ViolationError violation = caught.outcome().violation();
    assertThat(violation).isNotNull();
    Script smaller = new Shrinker(caught.script(), caught.outcome(), FEW_TRIES).shrink();
    History.Outcome again = History.play(smaller, true);
    assertThat(again.violation()).isNotNull();
    assertThat(again.violation().invariant()).isEqualTo(violation.invariant());
    assertThat(again.events()).hasSizeLessThan(caught.outcome().events().size());
    assertThat(again.lines()).last().asString().contains("BROKEN");
  }

  private static String report(Script script, History.Outcome outcome) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Shrinker(script, outcome, Shrinker.MANY_TRIES)
        .report(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static long[] seeds() {
    String given = System.getProperty("tidemark.seeds", "");
    return given.isEmpty()
        ? LongStream.rangeClosed(1, HISTORIES).toArray()
        : Arrays.stream(given.split(",")).mapToLong(Long::parseLong).toArray();
  }
}
