package dev.tidemark.gc;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What whoever merges a shard does for it now and then: moves since behind the upper, and collects
 * garbage. One bounded round a call; keep it between calls. Not thread-safe.
 */
public final class Maintenance {
  /** How often since is moved at most: each is a version of the log. */
  private static final long SINCE_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** The part of {@code retain} by which since must get on to be worth a version. */
  private static final int STEPS = 60;

  private final ShardLog log;
  private final Author by;
  private final @Nullable Duration retain;
  private final Collector collector;
  private @Nullable Long movedNanos;

  /**
   * The maintenance of one shard.
   *
   * @param by in whose name
   * @param retain how much history stays readable, in event time; null: all of it
   */
  public Maintenance(ShardLog log, Author by, @Nullable Duration retain, GcSettings settings) {
    this.log = log;
    this.by = by;
    this.retain = retain;
    this.collector = new Collector(log, by, settings);
  }

  /**
   * One round of all that is due.
   *
   * @param maySweep as in {@link Collector#collect}
   */
  public GcReport maintain(boolean maySweep) throws IOException {
    moveSince(false);
    return collector.collect(maySweep);
  }

  /**
   * Moves since to {@code retain} behind the upper, below all holds, if it gets on enough.
   *
   * @param mergeWanted whether any progress is worth it, as a merge waits
   * @return the since that holds from here on
   */
  public Frontier moveSince(boolean mergeWanted) throws IOException {
    ShardState state = log.refresh();
    if (!state.exists() || retain == null || state.retired()) {
      return state.exists() ? state.since() : Frontier.MINIMUM;
    }
    long now = log.pacing().nanoTime();
    if (movedNanos != null && now - movedNanos < SINCE_NANOS) {
      return state.since();
    }
    // The last time below the upper stays readable, however little is retained.
    Frontier wanted = back(lastFinite(state), Math.max(1, retain.toMillis()));
    long least = mergeWanted ? 1 : Math.max(1, retain.toMillis() / STEPS);
    if (!getsOn(state.since(), wanted, least)) {
      return state.since();
    }
    // By courtesy: a hold that comes later finds since past it, and says so.
    wanted = wanted.min(collector.holds().leastSince());
    if (!getsOn(state.since(), wanted, least)) {
      return state.since();
    }
    movedNanos = now;
    CommitResult result = log.commit(new Command.DowngradeSince(wanted), by);
    return result.state().since();
  }

  private static boolean getsOn(Frontier since, Frontier wanted, long least) {
    // As an unsigned number the difference is exact, whatever the two are.
    return wanted.isAfter(since) && Long.compareUnsigned(wanted.time() - since.time(), least) >= 0;
  }

  private static Frontier back(Frontier upper, long millis) {
    return upper.isMinimum() || upper.time() < Frontier.MINIMUM.time() + 1 + millis
        ? Frontier.MINIMUM
        : Frontier.of(upper.time() - millis);
  }

  /** The upper, or of a sealed shard the last finite one, as far as the batches tell. */
  private static Frontier lastFinite(ShardState state) {
    if (!state.sealed()) {
      return state.upper();
    }
    List<Batch> batches = state.batches();
    Frontier last = batches.get(batches.size() - 1).bounds().lower();
    for (Batch batch : batches) {
      if (batch.maxTime() != Long.MIN_VALUE) {
        last = last.max(Frontier.of(batch.maxTime() + 1));
      }
    }
    return last;
  }
}
