package dev.tidemark.law;

import dev.tidemark.spine.SpineSpec;
import java.util.random.RandomGenerator;

/** Specs to try the laws under. */
final class Specs {
  private Specs() {}

  /** Any; {@code queue} at least 2N where appends are to find room. */
  static SpineSpec any(RandomGenerator random) {
    int fanIn = random.nextInt(2, 10);
    return new SpineSpec(
        fanIn,
        random.nextInt(2 * fanIn - 1, 3 * fanIn + 2),
        random.nextInt(2 * fanIn, 4 * fanIn),
        random.nextLong(50, 5_000),
        random.nextDouble(1.2, 4),
        true);
  }
}
