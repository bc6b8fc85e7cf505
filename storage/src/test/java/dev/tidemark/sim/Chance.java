package dev.tidemark.sim;

/**
 * Seeded chance in named streams. Each stream is a function of the seed, its name and how often it
 * was asked, so leaving one actor out of a history changes nothing in what the others draw.
 */
final class Chance {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private long state;

  private Chance(long state) {
    this.state = state;
  }

  /** The stream of that name. */
  static Chance of(long seed, String name) {
    long mixed = mix(seed + GOLDEN);
    for (int i = 0; i < name.length(); i++) {
      mixed = mix(mixed ^ (name.charAt(i) + GOLDEN));
    }
    return new Chance(mixed);
  }

  private static long mix(long bits) {
    long z = bits;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** 64 random bits. */
  long bits() {
    state += GOLDEN;
    return mix(state);
  }

  /** From 0 to {@code bound - 1}. */
  int below(int bound) {
    return (int) Long.remainderUnsigned(bits(), bound);
  }

  /** From {@code least} to {@code most}, both included. */
  long between(long least, long most) {
    return least + Long.remainderUnsigned(bits(), most - least + 1);
  }

  /** From 0 up to, not including, 1. */
  double share() {
    return (bits() >>> 11) * 0x1.0p-53;
  }

  /** True at this rate. */
  boolean happens(double rate) {
    return share() < rate;
  }

  /** One of these. */
  @SafeVarargs
  final <T> T one(T... things) {
    return things[below(things.length)];
  }
}
