package dev.tidemark.law;

/**
 * What merges can do.
 *
 * @param bytesPerTick bytes of input that are merged between two appends
 * @param chunkBytes what is merged before another merge may go first
 */
record Capacity(double bytesPerTick, double chunkBytes) {
  /** Every merge is done at once. */
  static final Capacity UNLIMITED = new Capacity(Double.POSITIVE_INFINITY, 1L << 50);

  /** Nobody merges. */
  static final Capacity DEAD = new Capacity(0, 1);
}
