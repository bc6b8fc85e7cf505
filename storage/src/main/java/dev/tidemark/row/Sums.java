package dev.tidemark.row;

import java.io.IOException;

/** Sums of diffs. */
final class Sums {
  private Sums() {}

  static long add(long a, long b) throws IOException {
    long sum = a + b;
    if (((a ^ sum) & (b ^ sum)) < 0) {
      throw new IOException(
          "the diffs of one row add up to more than 64 bits hold: " + a + " and " + b);
    }
    return sum;
  }
}
