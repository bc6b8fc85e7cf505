package dev.tidemark.row;

import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Runs a random test over seeds. {@code -Dtidemark.seeds=7} runs that many, {@code 17,} or {@code
 * 17,23} those alone; a failure names its own.
 */
public final class Seeds {
  private Seeds() {}

  /** What a random test does. */
  @FunctionalInterface
  public interface Body {
    /** Runs with a random source. */
    void run(Random random) throws Exception;
  }

  /** Runs a test with each seed; a failure names its own. */
  public static void each(int count, Body body) {
    String given = System.getProperty("tidemark.seeds", "");
    List<Long> seeds =
        given.contains(",")
            ? Stream.of(given.split(",")).map(seed -> Long.valueOf(seed.trim())).toList()
            : LongStream.range(0, given.isBlank() ? count : Long.parseLong(given.trim()))
                .boxed()
                .toList();
    for (long seed : seeds) {
      try {
        body.run(new Random(seed));
      } catch (Throwable e) {
        throw new AssertionError("failed with -Dtidemark.seeds=" + seed + ",: " + e, e);
      }
    }
  }
}
