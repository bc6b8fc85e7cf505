package dev.tidemark.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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
  private static final long STEPS = 400;
  private static final int HISTORIES = 200;
  private static final int MOST_TO_CATCH = 600;

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
    for (long seed : seeds()) {
      Script script = Script.of(seed, STEPS, Mutant.NONE);
      History.Outcome outcome = History.play(script, false);
      if (outcome.violation() != null) {
        fail(report(script, outcome));
      }
      outcome.counts().forEach((what, count) -> counts.merge(what, count, Long::sum));
    }
    if (System.getProperty("tidemark.seeds", "").isEmpty()) {
      assertThat(counts.keySet())
          .as("something of each kind happened")
          .contains("commit append", "commit install", "commit promote", "commit since")
          .contains("lost races", "stale handles", "strays", "rollups")
          .contains("parts deleted", "entries deleted", "rollups deleted")
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
  void aBrokenProtocolIsCaught(Mutant mutant) {
    for (long seed = 1; seed <= MOST_TO_CATCH; seed++) {
      if (History.play(Script.of(seed, STEPS, mutant), false).violation() != null) {
        return;
      }
    }
    fail(mutant + " went through " + MOST_TO_CATCH + " histories unnoticed");
  }

  @Test
  void aFailingHistoryIsShrunk() {
    for (long seed = 1; seed <= MOST_TO_CATCH; seed++) {
      Script script = Script.of(seed, STEPS, Mutant.NOTHING_KEPT);
      History.Outcome outcome = History.play(script, false);
      if (outcome.violation() != null) {
        Script smaller = new Shrinker(script, outcome).shrink();
        History.Outcome again = History.play(smaller, true);
        assertThat(again.violation()).isNotNull();
        assertThat(again.events().size()).isLessThan(outcome.events().size());
        assertThat(again.lines()).last().asString().contains("BROKEN");
        return;
      }
    }
    fail("nothing to shrink");
  }

  private static String report(Script script, History.Outcome outcome) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new Shrinker(script, outcome).report(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static long[] seeds() {
    String given = System.getProperty("tidemark.seeds", "");
    return given.isEmpty()
        ? LongStream.rangeClosed(1, HISTORIES).toArray()
        : Arrays.stream(given.split(",")).mapToLong(Long::parseLong).toArray();
  }
}
