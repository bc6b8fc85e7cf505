package dev.tidemark.cli;

import dev.tidemark.job.Amounts;
import dev.tidemark.job.MergeLimits;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.CompactionReport;
import dev.tidemark.merge.CompactionWatch;
import dev.tidemark.merge.Compactor;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Merges in this process, outside of any job: a line of progress a second; the first signal stops
 * it, which leaves the shard right and what was uploaded for nothing an orphan; the second ends the
 * process at once.
 */
final class Compaction {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Context context;
  private final MergeLimits limits;
  private final Consumer<String> progress;
  private final PartKeys keys;
  private final long begun = System.nanoTime();
  private final AtomicInteger signal = new AtomicInteger();
  private long saidNanos = begun;

  Compaction(Context context, MergeLimits limits, Consumer<String> progress) {
    this.context = context;
    this.limits = limits;
    this.progress = progress;
    this.keys = new PartKeys(context.clock(), new SecureRandom());
  }

  /** Takes signals from now on. */
  void attend() {
    Signals.handle(this::signalled);
  }

  private void signalled(int code) {
    if (!signal.compareAndSet(0, code)) {
      Runtime.getRuntime().halt(code);
    }
    context
        .err()
        .println(
            "tidemark: stopping; what isn't installed yet is an orphan; once more ends at once");
  }

  /** The exit code of the signal that came; 0 when none did. */
  int signal() {
    return signal.get();
  }

  long millis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
  }

  /**
   * Merges one shard.
   *
   * @param name what progress calls it
   * @param log its log, read to the head; the shard is there
   * @param full whether all of it becomes one run
   */
  CompactionReport run(String name, ShardLog log, boolean full) throws IOException {
    ShardState state = log.known();
    PartStore parts = new PartStore(log.store(), state.shard(), limits.partBytes(), keys);
    Compactor compactor =
        new Compactor(
            log,
            parts,
            Admin.author(context),
            Admin::batchId,
            limits.memoryBytes(),
            limits.chunkBytes());
    Watch watch = new Watch(name);
    return full ? compactor.full(watch) : compactor.wanted(watch);
  }

  /** What a compaction did, without the shard's name. */
  static String text(CompactionReport report) {
    long before = SpineFigures.runs(report.before());
    long after = SpineFigures.runs(report.after());
    if (report.merges() + report.promotions() + report.lost() == 0) {
      return "nothing to merge, runs " + after;
    }
    return String.format(
        Locale.ROOT,
        "%s%s%s, runs %d -> %d, row bytes read %s, written %s",
        Amounts.count(report.merges(), "merge"),
        report.promotions() == 0
            ? ""
            : ", " + Amounts.count(report.promotions(), "batch") + " moved up",
        report.lost() == 0
            ? ""
            : String.format(Locale.ROOT, ", %,d for nothing (another was faster)", report.lost()),
        before,
        after,
        Amounts.text(report.bytesRead()),
        Amounts.text(report.bytesWritten()));
  }

  private final class Watch implements CompactionWatch {
    private final String name;

    Watch(String name) {
      this.name = name;
    }

    @Override
    public boolean stopped() {
      return signal.get() != 0;
    }

    @Override
    public void merging(Work work, long rows) {
      long now = System.nanoTime();
      if (now - saidNanos < SECOND_NANOS) {
        return;
      }
      saidNanos = now;
      progress.accept(
          String.format(
              Locale.ROOT,
              "%4d s  %s: merge %d, %s of %d runs, %s: %,d rows of at most %,d",
              TimeUnit.NANOSECONDS.toSeconds(now - begun),
              name,
              work.number(),
              work.level() < 0 ? "the oldest batches" : "level " + work.level(),
              work.runs(),
              Amounts.text(work.bytes()),
              Math.min(rows, work.rows()),
              work.rows()));
    }
  }
}
