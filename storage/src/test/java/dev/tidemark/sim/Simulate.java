package dev.tidemark.sim;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Plays many histories: {@code --seeds N [--from S] [--steps 500] [--threads 2] [--mutant NAME]
 * [--tell]}. Prints a line of totals; a violation is shrunk, printed and ends with exit code 1.
 */
public final class Simulate {
  /** What the arguments say. */
  private record Options(
      long from, long seeds, long steps, int threads, Mutant mutant, boolean tell) {
    static Options of(String[] args) {
      Map<String, String> given = new TreeMap<>();
      for (int i = 0; i < args.length; i++) {
        given.put(args[i], args[i].equals("--tell") ? "" : args[++i]);
      }
      return new Options(
          Long.parseLong(given.getOrDefault("--from", "1")),
          Long.parseLong(given.getOrDefault("--seeds", "100")),
          Long.parseLong(given.getOrDefault("--steps", "500")),
          Integer.parseInt(given.getOrDefault("--threads", "2")),
          Mutant.valueOf(given.getOrDefault("--mutant", "NONE")),
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
    System.exit(new Simulate(Options.of(args)).run(System.out));
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
    new Shrinker(script, outcome).report(out);
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
