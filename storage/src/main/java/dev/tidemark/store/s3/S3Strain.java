package dev.tidemark.store.s3;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How hard pressed a store is: remembers when it last asked for fewer requests (503, 429). Work
 * that can wait, merges and collecting, asks here before each request, and waits until the store
 * has been quiet for a while; appends and reads don't ask. Nothing waits for longer than {@link
 * #LONGEST_MILLIS} at a time, so that merges go on, slowly, on a store that is never quiet.
 */
final class S3Strain {
  /** How long a store must have been quiet: a few pauses of those who try again. */
  static final long QUIET_MILLIS = 1_000;

  /** The longest wait of one request: merges of many must keep up at last, or appends wait. */
  static final long LONGEST_MILLIS = 3_000;

  private final long quietNanos;
  private final long longestNanos;
  private long refusals;
  private long lastNanos;

  S3Strain() {
    this(QUIET_MILLIS, LONGEST_MILLIS);
  }

  S3Strain(long quietMillis, long longestMillis) {
    quietNanos = TimeUnit.MILLISECONDS.toNanos(quietMillis);
    longestNanos = TimeUnit.MILLISECONDS.toNanos(longestMillis);
  }

  /** The store asked for fewer requests. */
  synchronized void refused() {
    refusals++;
    lastNanos = System.nanoTime();
  }

  /** Waits until the store is quiet, but not for ever; an interrupted thread goes on at once. */
  void yieldToOthers() {
    long begun = System.nanoTime();
    long left = left(begun, begun);
    while (left > 0) {
      // Those who wait don't all come back at once.
      long jitter = ThreadLocalRandom.current().nextLong(1 + quietNanos / 4);
      try {
        TimeUnit.NANOSECONDS.sleep(left + jitter);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
      left = left(begun, System.nanoTime());
    }
  }

  private synchronized long left(long begunNanos, long nowNanos) {
    if (refusals == 0) {
      return 0;
    }
    long quietAt = lastNanos + quietNanos - nowNanos;
    return Math.min(quietAt, begunNanos + longestNanos - nowNanos);
  }
}
