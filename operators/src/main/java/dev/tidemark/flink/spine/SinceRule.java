package dev.tidemark.flink.spine;

import dev.tidemark.time.Frontier;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * When a shard's since moves, and where to: {@code retain} behind the upper; at most once a minute,
 * and only if it would move by a sixtieth of {@code retain} or a merge is wanted. With {@code
 * retain = 0} it moves for every wanted merge: what a merge can cancel saves more than the request
 * costs. Pure.
 */
final class SinceRule {
  private static final long INTERVAL_MILLIS = 60_000;
  private static final long STEPS = 60;

  private final @Nullable Duration retain;

  SinceRule(@Nullable Duration retain) {
    this.retain = retain;
  }

  /**
   * Where since should go; null: it stays. The last time below the upper stays readable.
   *
   * @param mergeWanted whether the spine wants a merge now
   * @param sinceLastMillis the time since it was last moved
   */
  @Nullable Frontier next(
      Frontier since, Frontier upper, boolean mergeWanted, long sinceLastMillis) {
    if (retain == null || upper.isMinimum() || upper.isEnd()) {
      return null;
    }
    Frontier target = Frontier.of(upper.time() - Math.max(1, retain.toMillis()));
    if (!target.isAfter(since)) {
      return null;
    }
    if (mergeWanted && retain.isZero()) {
      return target;
    }
    boolean far = since.isMinimum() || target.time() - since.time() >= retain.toMillis() / STEPS;
    return (far || mergeWanted) && sinceLastMillis >= INTERVAL_MILLIS ? target : null;
  }
}
