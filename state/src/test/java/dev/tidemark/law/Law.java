package dev.tidemark.law;

import dev.tidemark.testing.Seeds;
import java.util.random.RandomGenerator;

/** How much of each law is tried: {@code -Dtidemark.law.appends=N} appends a test. */
final class Law {
  private static final int APPENDS = Integer.getInteger("tidemark.law.appends", 20_000);

  private Law() {}

  /** A history of so many appends. */
  interface Check {
    void of(RandomGenerator random, int appends) throws Exception;
  }

  /** Checks histories of about {@code length} appends until as many are done as are wanted. */
  static void check(int length, Check check) {
    Seeds.check(
        Math.max(1, APPENDS / length),
        random -> check.of(random, length / 2 + random.nextInt(length)));
  }
}
