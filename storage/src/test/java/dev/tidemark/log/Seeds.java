package dev.tidemark.log;

import java.util.Random;
import java.util.stream.LongStream;

/**
 * Seeds of random tests: a few fixed ones, or those that {@code -Dtidemark.seeds=1,2,3} names. A
 * failure names its seed.
 */
final class Seeds {
  private Seeds() {}

  interface Trial {
    void run(Random random) throws Exception;
  }

  static void each(int count, Trial trial) {
    String given = System.getProperty("tidemark.seeds", "");
    long[] seeds =
        given.isEmpty()
            ? LongStream.range(0, count).toArray()
            : LongStream.of(
                    java.util.Arrays.stream(given.split(",")).mapToLong(Long::parseLong).toArray())
                .toArray();
    for (long seed : seeds) {
      try {
        trial.run(new Random(seed));
      } catch (Exception | AssertionError e) {
        throw new AssertionError("-Dtidemark.seeds=" + seed + " fails: " + e.getMessage(), e);
      }
    }
  }
}
