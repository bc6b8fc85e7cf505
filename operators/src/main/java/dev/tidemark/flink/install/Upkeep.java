package dev.tidemark.flink.install;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.Workers;
import dev.tidemark.gc.GcReport;
import dev.tidemark.gc.Maintenance;
import dev.tidemark.log.Author;
import dev.tidemark.log.ShardLog;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What install does for its shards by the clock: collects their garbage and moves their since, each
 * at its own moment around gc.interval, so that jobs don't do it in step. It never harms the job:
 *
 * <ol>
 *   <li>It runs in one thread of its own, with a log handle of its own, one shard after another:
 *       beside the job's many requests there is one of it, and none waits for it.
 *   <li>A round that fails is logged, the first of its kind loudly, and tried again at the next
 *       interval. What stands in the way, a hold or a slow store, is no failure of the job.
 *   <li>Orphans are looked for only once this attempt must have committed what it was restored
 *       with: append commits that when it opens, hence before the first checkpoint completes, or
 *       else, where the spine is full, within spine.max-stall, after which it fails.
 * </ol>
 *
 * <p>The methods run in the task's thread, rounds do not.
 */
final class Upkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);

  /** The pause after a round that left something to do: others want to get at the store too. */
  private static final long PAUSE_MILLIS = 1000;

  /** By how much an interval is longer or shorter at most, as its fraction. */
  private static final long JITTER = 10;

  /** A kind of failure that no other success mends: they are asked for once an hour. */
  private static final String UPLOADS = "uploads";

  private final SinkSettings settings;
  private final ProcessingTimeService timers;
  private final ExecutorService executor;
  private final List<Shard> shards = new ArrayList<>();
  private volatile long sweepsFrom = Long.MAX_VALUE;
  private volatile boolean closed;

  /** How rounds report to the task's thread. */
  interface Mailbox {
    void execute(Runnable news);
  }

  private final Mailbox mailbox;

  /** One shard, and what is counted of it. */
  private static final class Shard {
    final String name;
    final Maintenance maintenance;
    final Counter rounds;
    final Counter failures;
    final Counter deleted;

    /** The kinds of failures that were logged since the last success; of the executor's thread. */
    final Set<String> failed = new HashSet<>();

    /** When the next round begins. */
    @Nullable ScheduledFuture<?> next;

    volatile long garbageBytes;
    volatile long heldBytes;

    Shard(String name, Maintenance maintenance, MetricGroup group) {
      this.name = name;
      this.maintenance = maintenance;
      this.rounds = group.counter("gcRounds");
      this.failures = group.counter("gcFailures");
      this.deleted = group.counter("gcDeleted");
      group.gauge("garbageBytes", () -> garbageBytes);
      group.gauge("heldBytes", () -> heldBytes);
    }
  }

  /**
   * Upkeep that begins as shards are added.
   *
   * @param mailbox brings news into the task's thread; may throw RejectedExecutionException
   */
  Upkeep(SinkSettings settings, ProcessingTimeService timers, Mailbox mailbox) {
    this.settings = settings;
    this.timers = timers;
    this.mailbox = mailbox;
    this.executor = Workers.pool("tidemark-gc", 1);
  }

  /** Looks after a shard from now on. */
  void add(ShardHandle handle, Author by, MetricGroup metrics) {
    String name = handle.target().name();
    Maintenance maintenance =
        new Maintenance(
            new ShardLog(handle.log().store()), by, handle.target().retain(), settings.gc());
    Shard shard = new Shard(name, maintenance, metrics.addGroup("tidemark").addGroup(name));
    shards.add(shard);
    long interval = settings.gcInterval().toMillis();
    schedule(shard, ThreadLocalRandom.current().nextLong(Math.max(1, interval)));
  }

  /** A checkpoint of this attempt is complete, so append has opened and committed. */
  void checkpointCompleted() {
    if (sweepsFrom == Long.MAX_VALUE) {
      long stall = settings.maxStall().toMillis() + settings.maxStall().toMillis() / JITTER;
      sweepsFrom = timers.getCurrentProcessingTime() + stall;
    }
  }

  private void schedule(Shard shard, long delayMillis) {
    long at = timers.getCurrentProcessingTime() + delayMillis;
    shard.next = timers.registerTimer(at, time -> start(shard));
  }

  private void start(Shard shard) {
    // by the clock, not by when the timer was due: that may have been before the checkpoint
    boolean maySweep = timers.getCurrentProcessingTime() >= sweepsFrom;
    try {
      executor.execute(() -> round(shard, maySweep));
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("shard {}: no more garbage is collected, the task ends", shard.name);
    }
  }

  /** In the executor's thread. */
  private void round(Shard shard, boolean maySweep) {
    GcReport report = null;
    try {
      report = shard.maintenance.maintain(maySweep);
      String denied = report.denied();
      if (denied != null) {
        failed(shard, "denied", "garbage stays, as it can't be deleted: " + denied, null);
      } else {
        shard.failed.removeIf(kind -> !kind.equals(UPLOADS));
      }
      if (report.uploadsDenied() != null) {
        failed(shard, UPLOADS, "unfinished uploads stay: " + report.uploadsDenied(), null);
      }
      if (report.didSomething()) {
        LOG.debug("shard {}: collected {}", shard.name, report);
      }
    } catch (IOException | RuntimeException e) {
      failed(shard, kind(e), "garbage stays for now, tried again: " + e.getMessage(), e);
    }
    GcReport done = report;
    try {
      mailbox.execute(() -> done(shard, done));
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("shard {}: a round of garbage collection ended after its task", shard.name);
    }
  }

  private static String kind(Exception e) {
    String kind = e.getClass().getName();
    return e instanceof StoreException store ? kind + store.reason() : kind;
  }

  private void failed(Shard shard, String kind, String what, @Nullable Exception cause) {
    if (!closed && shard.failed.add(kind)) {
      LOG.warn("shard {}: {}", shard.name, what, cause);
    } else {
      LOG.debug("shard {}: {}", shard.name, what);
    }
  }

  private void done(Shard shard, @Nullable GcReport report) {
    shard.rounds.inc();
    boolean more = false;
    if (report == null || report.denied() != null) {
      shard.failures.inc();
    } else {
      more = report.more();
    }
    if (report != null) {
      shard.deleted.inc(report.objectsDeleted());
      shard.garbageBytes = report.partBytesKept() + report.heldBytes();
      shard.heldBytes = report.heldBytes();
    }
    schedule(shard, more ? Math.min(PAUSE_MILLIS, intervalMillis()) : jittered());
  }

  private long intervalMillis() {
    return Math.max(1, settings.gcInterval().toMillis());
  }

  private long jittered() {
    long spread = Math.max(1, intervalMillis() / JITTER);
    return intervalMillis() + ThreadLocalRandom.current().nextLong(-spread, spread + 1);
  }

  /** Cuts a round off: another goes on from anywhere. */
  @Override
  public void close() {
    closed = true;
    for (Shard shard : shards) {
      ScheduledFuture<?> next = shard.next;
      if (next != null) {
        next.cancel(false);
      }
    }
    Workers.stop(executor);
  }
}
