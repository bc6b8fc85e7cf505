package dev.tidemark.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** All that the actors of a history share. */
final class World {
  /** When histories begin: 2026-11-30T00:00Z. */
  static final long BEGIN_MILLIS = 1_796_000_000_000L - 1_796_000_000_000L % 86_400_000L;

  private final Script script;
  private final Settings settings;
  private final Scheduler scheduler;
  private final Truth truth;
  private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
  private final SortedMap<String, Long> counts = new TreeMap<>();
  private final List<String> events = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();
  private final boolean telling;
  private boolean healed;

  World(Script script, boolean telling) {
    this.script = script;
    this.telling = telling;
    this.settings = Settings.of(script.seed());
    this.scheduler = new Scheduler(BEGIN_MILLIS, script.steps());
    this.truth = new Truth(scheduler::nowMillis, settings, Chance.of(script.seed(), "audit"));
  }

  Settings settings() {
    return settings;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  Truth truth() {
    return truth;
  }

  Mutant mutant() {
    return script.mutant();
  }

  /** gc.keep as the collectors have it. */
  long keepMillis() {
    return mutant() == Mutant.NOTHING_KEPT ? 0 : settings.keepMillis();
  }

  /** A stream of chance of this history. */
  Chance chance(String name) {
    return Chance.of(script.seed(), name);
  }

  /** Starts an actor, unless the script leaves it out. */
  void start(String name, long delayMillis, Scheduler.Life life) {
    if (!script.actors().contains(name)) {
      scheduler.start(name, delayMillis, life);
    }
  }

  /** From now on nothing goes wrong. */
  void heal() {
    healed = true;
  }

  /** Whether a fault happens here; {@code label} names this one among all of its kind. */
  boolean happens(Fault fault, double rate, Chance chance, Supplier<String> label) {
    if (!chance.happens(rate) || healed || script.faults().contains(fault)) {
      return false;
    }
    String named = fault + " " + label.get();
    if (script.events().contains(named)) {
      return false;
    }
    events.add(named);
    faults.merge(fault, 1L, Long::sum);
    return true;
  }

  /** Whether an actor takes this turn; a shrunk script leaves some out. */
  boolean takesTurn(String actor, int turn) {
    String named = "TURN " + actor + " " + turn;
    if (script.events().contains(named)) {
      return false;
    }
    events.add(named);
    return true;
  }

  /** The labels of all faults and turns so far. */
  List<String> events() {
    return events;
  }

  /** How often each fault happened. */
  Map<Fault, Long> faults() {
    return faults;
  }

  /** Something worth counting happened. */
  void count(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  /** How often what happened. */
  SortedMap<String, Long> counts() {
    return counts;
  }

  /** A line of the history, if anybody wants to read it. */
  void tell(String who, Supplier<String> what) {
    if (telling) {
      long millis = scheduler.nowMillis() - BEGIN_MILLIS;
      lines.add(
          String.format("%5d  %s  %-12s %s", scheduler.steps(), clock(millis), who, what.get()));
    }
  }

  private static String clock(long millis) {
    long seconds = millis / 1000;
    return String.format(
        "%dd %02d:%02d:%02d.%03d",
        seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60, millis % 1000);
  }

  List<String> lines() {
    return lines;
  }
}
