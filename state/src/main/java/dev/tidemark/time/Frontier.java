package dev.tidemark.time;

/**
 * A time, in milliseconds, at and after which updates may still come; or <em>end</em>: none will
 * ever come. A frontier F has <em>passed</em> a time t when t &lt; F.
 *
 * <p>The two ends of the signed 64-bit range are taken: {@link #MINIMUM} stands before every update
 * and {@link #END} behind all of them, so {@code Long.MAX_VALUE} is never the time of a row. The
 * idea is timely dataflow's antichain of times, for a total order.
 *
 * @param time the time in milliseconds, {@code Long.MAX_VALUE} for the end
 */
public record Frontier(long time) implements Comparable<Frontier> {
  /** Before every time: nothing is known to have passed. */
  public static final Frontier MINIMUM = new Frontier(Long.MIN_VALUE);

  /** Behind every time: nothing will ever come. */
  public static final Frontier END = new Frontier(Long.MAX_VALUE);

  /** The frontier that stands at {@code timeMillis}. */
  public static Frontier of(long timeMillis) {
    return new Frontier(timeMillis);
  }

  /**
   * What a Flink watermark says: no row at or below it comes any more. {@code Long.MAX_VALUE} is
   * the end of input, {@code Long.MIN_VALUE} no knowledge.
   */
  public static Frontier ofWatermark(long watermark) {
    return watermark == Long.MIN_VALUE || watermark == Long.MAX_VALUE
        ? new Frontier(watermark)
        : new Frontier(watermark + 1);
  }

  /** The watermark that says the same, the inverse of {@link #ofWatermark}. */
  public long watermark() {
    return isEnd() || isMinimum() ? time : time - 1;
  }

  /** Whether nothing comes any more. */
  public boolean isEnd() {
    return time == Long.MAX_VALUE;
  }

  /** Whether nothing is known. */
  public boolean isMinimum() {
    return time == Long.MIN_VALUE;
  }

  /** Whether updates at {@code timeMillis} can no longer come. */
  public boolean hasPassed(long timeMillis) {
    return timeMillis < time;
  }

  /** Whether this frontier stands before {@code other}. */
  public boolean isBefore(Frontier other) {
    return time < other.time;
  }

  /** Whether this frontier stands behind {@code other}. */
  public boolean isAfter(Frontier other) {
    return time > other.time;
  }

  /** The later of the two. */
  public Frontier max(Frontier other) {
    return isBefore(other) ? other : this;
  }

  /** The earlier of the two. */
  public Frontier min(Frontier other) {
    return isBefore(other) ? this : other;
  }

  @Override
  public int compareTo(Frontier other) {
    return Long.compare(time, other.time);
  }

  /** {@code min}, {@code end}, or the milliseconds. */
  @Override
  public String toString() {
    return isMinimum() ? "min" : isEnd() ? "end" : Long.toString(time);
  }
}
