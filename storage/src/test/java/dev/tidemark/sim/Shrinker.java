package dev.tidemark.sim;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes a failing history small: plays it again without an actor, without a kind of fault, without
 * some faults and turns, and keeps what still breaks the same invariant.
 */
final class Shrinker {
  /** As many tries as are worth waiting for when a history has failed. */
  static final int MANY_TRIES = 400;

  private final int mostTries;
  private final long seed;
  private Script script;
  private History.Outcome outcome;
  private int tries;

  Shrinker(Script script, History.Outcome outcome, int mostTries) {
    this.mostTries = mostTries;
    this.seed = script.seed();
    this.script = script;
    this.outcome = outcome;
  }

  /** Shrinks and prints the seed and the history. */
  void report(PrintStream out) {
    shrink();
    ViolationError violation = violation(outcome);
    out.println("seed " + seed + " breaks " + violation.getMessage());
    for (Throwable cause = violation.getCause(); cause != null; cause = cause.getCause()) {
      out.println("  because of " + cause);
    }
    History.Outcome told = History.play(script, true);
    out.println("shrunk in " + tries + " tries to " + told.lines().size() + " lines:");
    told.lines().forEach(out::println);
    out.println("again: scripts/simulate --seeds 1 --from " + seed + " --tell");
  }

  private static ViolationError violation(History.Outcome outcome) {
    ViolationError violation = outcome.violation();
    if (violation == null) {
      throw new IllegalArgumentException("nothing is broken");
    }
    return violation;
  }

  Script shrink() {
    attempt(script.withSteps(Math.max(1, outcome.steps() + 1)));
    withoutOldEvents();
    for (String actor : actors()) {
      attempt(script.withoutActor(actor));
    }
    for (Fault fault : Fault.ALL) {
      attempt(script.withoutFault(fault));
    }
    boolean smaller = true;
    while (smaller && tries < mostTries) {
      smaller = withoutEvents();
      attempt(script.withSteps(Math.max(1, outcome.steps() + 1)));
    }
    return script;
  }

  /** Leaves out the first half of the events, then the first of what is left, and so on. */
  private void withoutOldEvents() {
    boolean smaller = true;
    while (smaller && outcome.events().size() > 1) {
      smaller =
          attempt(script.withoutEvents(outcome.events().subList(0, outcome.events().size() / 2)));
    }
  }

  private Set<String> actors() {
    Set<String> actors = new TreeSet<>();
    for (String event : outcome.events()) {
      actors.add(event.split(" ")[1]);
    }
    return actors;
  }

  /** Leaves out halves of the events, then quarters, down to single ones. */
  private boolean withoutEvents() {
    boolean smaller = false;
    for (int size = Math.max(1, outcome.events().size() / 2); size >= 1; size /= 2) {
      List<String> events = new ArrayList<>(outcome.events());
      for (int from = Math.max(0, events.size() - size); ; from -= size) {
        List<String> some = events.subList(Math.max(0, from), Math.min(events.size(), from + size));
        smaller |= !some.isEmpty() && attempt(script.withoutEvents(some));
        if (from <= 0 || tries >= mostTries) {
          break;
        }
      }
    }
    return smaller;
  }

  private boolean attempt(Script smaller) {
    if (tries >= mostTries || smaller.equals(script)) {
      return false;
    }
    tries++;
    History.Outcome again = History.play(smaller, false);
    @Nullable ViolationError broken = again.violation();
    if (broken == null || !broken.invariant().equals(violation(outcome).invariant())) {
      return false;
    }
    if (again.events().size() > outcome.events().size()) {
      return false; // without the one, the others do more
    }
    script = smaller;
    outcome = again;
    return true;
  }
}
