package dev.tidemark.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a property over seeds. A failure names its seed; {@code -Dtidemark.seeds=7} runs that many
 * seeds from 0 on, {@code -Dtidemark.seeds=17,} or {@code 17,23} those seeds alone.
 */
public final class Seeds {
  private Seeds() {}

  /** A property: throws when it doesn't hold. */
  public interface Property {
    /** Checks it on what {@code random} draws. */
    void check(RandomGenerator random) throws Exception;
  }

  /** Checks a property on {@code count} seeds, or on what the system property says instead. */
  public static void check(int count, Property property) {
    for (long seed : seeds(count)) {
      try {
        property.check(random(seed));
      } catch (Throwable failure) {
        throw new AssertionError(
            "seed " + seed + " (again: -Dtidemark.seeds=" + seed + ",): " + failure.getMessage(),
            failure);
      }
    }
  }

  /** The generator of a seed: the same numbers on every machine. */
  public static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  private static List<Long> seeds(int count) {
    String chosen = System.getProperty("tidemark.seeds", "").trim();
    List<Long> seeds = new ArrayList<>();
    if (chosen.contains(",")) {
      for (String seed : chosen.split(",", -1)) {
        if (!seed.isBlank()) {
          seeds.add(Long.parseLong(seed.trim()));
        }
      }
      return seeds;
    }
    long end = chosen.isEmpty() ? count : Long.parseLong(chosen);
    for (long seed = 0; seed < end; seed++) {
      seeds.add(seed);
    }
    return seeds;
  }
}
