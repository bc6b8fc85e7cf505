package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.log.Author;
import dev.tidemark.merge.Compactor;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.Pressure;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.metrics.MetricGroup;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What append knows of one of its shards: the batches that aren't known to be in its log, and how
 * its appends go.
 */
final class OwnedShard {
  private static final Logger LOG = LoggerFactory.getLogger(OwnedShard.class);

  private final int index;
  private final int key;
  private final ShardHandle handle;
  private final LongCounter committedRows = new LongCounter();
  private final LongCounter committedBytes = new LongCounter();
  private final LongCounter commits = new LongCounter();

  private final PendingBatches pending = new PendingBatches();
  private final LongCounter displaced = new LongCounter();

  /** Another thread asks. */
  private volatile boolean readOnly;

  private final long openedMillis;

  /** How far the shard had come when this attempt met it; null: not met yet. */
  private @Nullable Frontier found;

  /** From opening to the first commit past what was found; negative: not yet. */
  private volatile long rehydrationMillis = -1;

  /** Another thread asks. */
  private volatile SeenShard seen = new SeenShard("", Frontier.MINIMUM);

  private @Nullable SeenShard snapshotted;
  private final Stall stall = new Stall();
  private long lastCommit;
  private int submitted;
  private Frontier start = Frontier.MINIMUM;

  OwnedShard(
      int index,
      int key,
      ShardHandle handle,
      RuntimeContext context,
      MetricGroup metrics,
      Clock clock,
      long now) {
    this.index = index;
    this.key = key;
    this.handle = handle;
    this.lastCommit = now;
    this.openedMillis = now;
    String name = handle.target().name();
    context.addAccumulator("tidemark." + name + ".committed", committedRows);
    context.addAccumulator("tidemark." + name + ".appendedBytes", committedBytes);
    context.addAccumulator("tidemark." + name + ".commits", commits);
    MetricGroup group = metrics.addGroup("tidemark").addGroup(name);
    context.addAccumulator("tidemark." + name + ".stallMillis", stall.counter());
    group.gauge("stallMillis", stall.counter()::getLocalValuePrimitive);
    group.gauge("pressure", () -> pressure(handle.log().known()));
    context.addAccumulator("tidemark." + name + ".displaced", displaced);
    group.gauge("displaced", displaced::getLocalValuePrimitive);
    group.gauge("pending", pending::size);
    group.gauge("readOnly", () -> readOnly ? 1 : 0);
    group.gauge("committed", committedRows::getLocalValuePrimitive);
    group.gauge("commits", commits::getLocalValuePrimitive);
    group.gauge("rehydrationMillis", () -> rehydrationMillis);
    group.gauge("upper", () -> seen.upper().time());
    group.gauge("upperLagMillis", () -> lagMillis(seen.upper(), clock.millis()));
    group.gauge("snapshotCommitted", () -> seen.upper().isMinimum() ? 0 : 1);
    group.gauge("runs", () -> runs(handle.log().known()));
    group.gauge("runsBound", () -> runsBound(handle.log().known()));
    group.gauge("lostRaces", () -> handle.log().lostRaces());
    group.gauge("writeAmplification", () -> writeAmplification(handle.log().known()));
  }

  /** By how much the upper is behind the clock; 0 at the end and before there is any. */
  private static long lagMillis(Frontier upper, long now) {
    return upper.isMinimum() || upper.isEnd() ? 0 : now - upper.time();
  }

  private static long runs(ShardState state) {
    return state.exists() ? state.batches().stream().mapToLong(Batch::runCount).sum() : 0;
  }

  /** ReadBound while no consolidation is under way. */
  private static long runsBound(ShardState state) {
    return state.exists() ? Bounds.of(state.spec(), written(state)).runs() : 0;
  }

  private static double writeAmplification(ShardState state) {
    return written(state).amplification();
  }

  private static Written written(ShardState state) {
    return Objects.requireNonNullElse(state.written(), Written.NONE);
  }

  int index() {
    return index;
  }

  int key() {
    return key;
  }

  ShardHandle handle() {
    return handle;
  }

  /** From where on the job writes: the shard's upper when it began without state. */
  Frontier start() {
    return start;
  }

  void start(Frontier from) {
    start = from;
  }

  /** The batches that aren't known to be in its log. */
  PendingBatches pending() {
    return pending;
  }

  /** Whether nothing may be appended, as of the last look. */
  boolean isReadOnly() {
    return readOnly;
  }

  void readOnly(boolean now) {
    readOnly = now;
  }

  /** How many batches the append that is, or was, under way has. */
  int submitted() {
    return submitted;
  }

  void submitted(int batches) {
    submitted = batches;
  }

  /** Takes note of how an append went, counts and tells of what others have done. */
  void note(ShardAppend.Outcome outcome, long now) {
    stall.note(outcome.full(), outcome.state(), now);
    String name = handle.target().name();
    if (outcome.readOnly() != readOnly) {
      LOG.warn(
          outcome.readOnly()
              ? "shard {}: read-only from {} on, this job's batches wait; {}"
              : "shard {}: no longer read-only, appends go on at {}; {}",
          name,
          outcome.state().upper(),
          ShardStart.writers(outcome.state()));
      readOnly = outcome.readOnly();
    }
    if (readOnly) {
      lastCommit = now; // how far it is was looked at
    }
    if (outcome.displaced() > 0) {
      LOG.warn(
          "shard {}: {} batches were cut or left out for what another writer has appended; {}",
          name,
          outcome.displaced(),
          ShardStart.writers(outcome.state()));
      displaced.add(outcome.displaced());
    }
  }

  /**
   * Fails when the shard has been full, or an append to it under way, for too long.
   *
   * @param inFlightMillis for how long one has been under way; 0: none is
   */
  void checkStall(SinkSettings settings, long now, long inFlightMillis) throws IOException {
    long most = settings.maxStall().toMillis();
    if (stall.isFull() && stall.millis(now) > most) {
      throw new IOException("shard " + handle.target().url() + " " + stall.why(settings, now));
    }
    if (inFlightMillis > most) {
      throw new IOException(
          "an append to shard "
              + handle.target().url()
              + " has been under way for "
              + inFlightMillis / 1000
              + " s (spine.max-stall "
              + most / 1000
              + " s): see that the store answers");
    }
  }

  SeenShard seen() {
    return seen;
  }

  void saw(ShardState state) {
    if (found == null) {
      found = state.upper();
    }
    seen = new SeenShard(state.shard(), state.upper());
  }

  /** Whether there is something to write down about the shard since it was last asked. */
  boolean changedSinceSnapshot() {
    boolean changed = !seen.equals(snapshotted);
    snapshotted = seen;
    return changed;
  }

  void committed(ShardAppend.Committed what, long now) {
    committedRows.add(what.rows());
    committedBytes.add(what.bytes());
    commits.add(1);
    lastCommit = now;
    if (rehydrationMillis < 0 && found != null && what.upper().isAfter(found)) {
      rehydrationMillis = now - openedMillis;
    }
  }

  /** Whether a commit without rows is due. */
  boolean isIdleSince(long now, Duration idleInterval) {
    return now - lastCommit >= idleInterval.toMillis();
  }

  /** Whether its spine has room, and for how long it has had none. */
  Stall stall() {
    return stall;
  }

  /**
   * How much it presses the source. Where it does and no append waits, which would look itself, the
   * log is read on: merges that others installed may have made room. Thread-safe.
   */
  double pressure() {
    double pressure = pressure(handle.log().known());
    if (pressure > 0 && !stall.isFull()) {
      try {
        return pressure(handle.log().refresh());
      } catch (IOException e) {
        LOG.debug("shard {} can't be read; looked at again", handle.target().name(), e);
      }
    }
    return pressure;
  }

  private double pressure(ShardState state) {
    return state.exists() ? Pressure.of(state.spec(), state.spine().count(0), stall.isFull()) : 0;
  }

  /** Merges in the place of those who aren't there any more. */
  Compactor compactor(Author by, SinkSettings settings) throws IOException {
    return new Compactor(
        handle.log(),
        handle.parts(by),
        by,
        ShardHandle::newId,
        settings.mergeMemoryBytes(),
        settings.mergeChunkBytes());
  }
}
