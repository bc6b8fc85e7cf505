package dev.tidemark.time;

/**
 * The interval of time, {@code [lower, upper)}, that one batch covers whole.
 *
 * @param lower the first time that belongs to it
 * @param upper the first time behind it
 */
public record BatchDescription(Frontier lower, Frontier upper) {
  /** Checks that the interval is not empty. */
  public BatchDescription {
    if (!lower.isBefore(upper)) {
      throw new IllegalArgumentException("empty interval [" + lower + ", " + upper + ")");
    }
  }

  /** Whether {@code timeMillis} lies inside. */
  public boolean contains(long timeMillis) {
    return timeMillis >= lower.time() && timeMillis < upper.time();
  }

  @Override
  public String toString() {
    return "[" + lower + ", " + upper + ")";
  }
}
