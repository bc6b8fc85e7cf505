package dev.tidemark.sim;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Plays many histories: {@code --seeds N [--from S] [--steps 500] [--threads 2] [--mutant NAME]
 * [--tell]}. Prints a line of totals; a violation is shrunk, printed and ends with exit code 1.
 * With {@code --mutants} each broken protocol is played until it is caught, shrunk and told in a
 * line.
 */
public final class Simulate {
  /** What the arguments say. */
  private record Options(
      long from,
      long seeds,
      long steps,
      int threads,
      Mutant mutant,
      boolean mutants,
      boolean tell) {
    private static final Set<String> FLAGS = Set.of("--tell", "--mutants");

    static Options of(String[] args) {
      Map<String, String> given = new TreeMap<>();
      for (int i = 0; i < args.length; i++) {
        given.put(args[i], FLAGS.contains(args[i]) ? "" : args[++i]);
      }
      return new Options(
          Long.parseLong(given.getOrDefault("--from", "1")),
          Long.parseLong(given.getOrDefault("--seeds", "100")),
          Long.parseLong(given.getOrDefault("--steps", "500")),
          Integer.parseInt(given.getOrDefault("--threads", "2")),
          Mutant.valueOf(given.getOrDefault("--mutant", "NONE")),
          given.containsKey("--mutants"),
          given.containsKey("--tell"));
    }
  }

  private final Options options;
  private final AtomicLong next;
  private final Map<String, Long> totals = new TreeMap<>();
  private long histories;
  private long steps;
  private @Nullable Script failing;
  private History.@Nullable Outcome failure;

  private Simulate(Options options) {
    this.options = options;
    this.next = new AtomicLong(options.from());
  }

  /** See above. */
  public static void main(String[] args) throws InterruptedException {
    Options options = Options.of(args);
    System.exit(options.mutants() ? mutants(options) : new Simulate(options).run(System.out));
  }

  private static int mutants(Options options) {
    int unnoticed = 0;
    for (Mutant mutant : Mutant.BROKEN) {
      Optional<Played> caught = Played.by(mutant, options.from(), options.seeds(), options.steps());
      System.out.println(caught.map(Played::line).orElse(mutant + " goes unnoticed"));
      unnoticed += caught.isEmpty() ? 1 : 0;
    }
    return unnoticed == 0 ? 0 : 1;
  }

  /**
   * A history.
   *
   * @param script what was played
   * @param outcome how it ended
   */
  record Played(Script script, History.Outcome outcome) {
    /** The first history of a broken protocol, of so many seeds, that breaks an invariant. */
    static Optional<Played> by(Mutant mutant, long from, long seeds, long steps) {
      for (long seed = from; seed < from + seeds; seed++) {
        Script script = Script.of(seed, steps, mutant);
        History.Outcome outcome = History.play(script, false);
        if (outcome.violation() != null) {
          return Optional.of(new Played(script, outcome));
        }
      }
      return Optional.empty();
    }

    private String line() {
      Script smaller = new Shrinker(script, outcome, Shrinker.MANY_TRIES).shrink();
      History.Outcome shrunk = History.play(smaller, true);
      return String.format(
          "%-22s seed %4d: %d faults and turns shrunk to %d, %d lines: %s",
          script.mutant(),
          script.seed(),
          outcome.events().size(),
          shrunk.events().size(),
          shrunk.lines().size(),
          shrunk.violation() == null ? "nothing" : shrunk.violation().getMessage());
    }
  }

  private int run(PrintStream out) throws InterruptedException {
    long began = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < options.threads(); i++) {
      Thread thread = new Thread(this::work, "simulate-" + i);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    out.println(totals((System.nanoTime() - began) / 1e9));
    Script script = failing;
    History.Outcome outcome = failure;
    if (script == null || outcome == null) {
      return 0;
    }
    new Shrinker(script, outcome, Shrinker.MANY_TRIES).report(out);
    return 1;
  }

  private String totals(double seconds) {
    List<String> commits = new ArrayList<>();
    List<String> faults = new ArrayList<>();
    List<String> others = new ArrayList<>();
    totals.forEach(
        (what, count) -> {
          String named = String.format("%s %,d", what, count);
          if (what.startsWith("fault ")) {
            faults.add(named.substring("fault ".length()));
          } else if (what.startsWith("commit ")) {
            commits.add(named.substring("commit ".length()));
          } else {
            others.add(named);
          }
        });
    return String.format(
        "%,d histories, %,d steps in %.1f s, %,.0f steps/s a core; commits: %s; %s; faults: %s;"
            + " violations %d",
        histories,
        steps,
        seconds,
        steps / seconds / options.threads(),
        String.join(", ", commits),
        String.join(", ", others),
        String.join(", ", faults).toLowerCase(Locale.ROOT),
        failing == null ? 0 : 1);
  }

  private void work() {
    long seed = next.getAndIncrement();
    while (seed < options.from() + options.seeds() && !failed()) {
      Script script = Script.of(seed, options.steps(), options.mutant());
      History.Outcome outcome = History.play(script, options.tell());
      if (options.tell()) {
        outcome.lines().forEach(System.out::println);
      }
      count(script, outcome);
      seed = next.getAndIncrement();
    }
  }

  private synchronized boolean failed() {
    return failing != null;
  }

  private synchronized void count(Script script, History.Outcome outcome) {
    histories++;
    steps += outcome.steps();
    outcome.counts().forEach((what, count) -> totals.merge(what, count, Long::sum));
    if (outcome.violation() != null && failing == null) {
      failing = script;
      failure = outcome;
    }
  }
}
