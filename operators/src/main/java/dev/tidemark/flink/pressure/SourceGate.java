package dev.tidemark.flink.pressure;

import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.taskexecutor.GlobalAggregateManager;
import org.apache.flink.util.clock.RelativeClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the readers of a job in this JVM back while its shards press. A thread asks for the
 * pressure once a second. At 1 the gate is closed until the next answer; between 0 and 1 it is
 * closed for that share of the second; at 0, and where no answer comes, it is open.
 *
 * <p>One for all tasks of a job in a JVM, shared and counted: it saves requests, and those who
 * watch for silent readers ({@link #activityClock}) see the same pauses as the readers.
 */
public final class SourceGate implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SourceGate.class);
  private static final long TICK_MILLIS = 1000;

  /** By the job's connection to its master, which Flink has one of in each JVM. */
  private static final IdentityHashMap<GlobalAggregateManager, SourceGate> GATES =
      new IdentityHashMap<>();

  private final GlobalAggregateManager manager;
  private final PressureBoard board;
  private final Gate gate = new Gate();
  private final long tickMillis;
  private final ScheduledExecutorService executor;
  private int users;
  private double last;

  private SourceGate(GlobalAggregateManager manager, long tickMillis) {
    this.manager = manager;
    this.board = new PressureBoard(manager);
    this.tickMillis = tickMillis;
    this.executor = PressureThreads.start("tidemark-gate");
    var unused = // a tick doesn't throw
        executor.scheduleWithFixedDelay(this::tick, 0, tickMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * The gate of the job that an operator or a reader runs in, to be closed by whoever asked for it;
   * empty where Flink has no way back from append.
   */
  public static Optional<SourceGate> acquire(RuntimeContext context) {
    return PressureBoard.manager(context).map(manager -> acquire(manager, TICK_MILLIS));
  }

  static SourceGate acquire(GlobalAggregateManager manager, long tickMillis) {
    synchronized (GATES) {
      SourceGate gate = GATES.computeIfAbsent(manager, first -> new SourceGate(first, tickMillis));
      gate.users++;
      return gate;
    }
  }

  private void tick() {
    double pressure = 0;
    try {
      pressure = board.greatest();
    } catch (IOException | RuntimeException e) {
      LOG.debug("the shards' pressure is not known: nothing is held back", e);
    }
    if (pressure >= 1 != last >= 1) {
      LOG.info(
          pressure >= 1
              ? "the source is held: an append waits for merges"
              : "the source goes on: no append waits any more");
    }
    last = pressure;
    if (pressure <= 0) {
      gate.open(System.nanoTime());
      return;
    }
    gate.close(System.nanoTime());
    if (pressure < 1) {
      var unused = // opening doesn't throw
          executor.schedule(
              () -> gate.open(System.nanoTime()),
              (long) (pressure * tickMillis),
              TimeUnit.MILLISECONDS);
    }
  }

  /** Whether readers may read now. */
  public boolean isOpen() {
    return gate.isOpen();
  }

  /** Done while readers may read; else completes when they may again. */
  public CompletableFuture<Void> opened() {
    return gate.opened();
  }

  /** For how long the readers of this JVM have been held in all. */
  public long heldMillis() {
    return TimeUnit.NANOSECONDS.toMillis(gate.heldNanos(System.nanoTime()));
  }

  /** A clock that stands still while readers are held: who is held is not silent. */
  public RelativeClock activityClock() {
    return new RelativeClock() {
      @Override
      public long relativeTimeMillis() {
        return TimeUnit.NANOSECONDS.toMillis(relativeTimeNanos());
      }

      @Override
      public long relativeTimeNanos() {
        long now = System.nanoTime();
        return now - gate.heldNanos(now);
      }
    };
  }

  /** Gives the gate back; the last one stops its thread and lets go whoever still waits. */
  @Override
  public void close() {
    synchronized (GATES) {
      if (--users > 0) {
        return;
      }
      GATES.remove(manager);
    }
    executor.shutdownNow();
    gate.open(System.nanoTime());
  }
}
