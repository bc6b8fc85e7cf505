package dev.tidemark.cli;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.job.CompactOptions;
import dev.tidemark.job.StartPoint;
import dev.tidemark.job.TidemarkJob;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Attends a job of role compact in this process: a line of progress a second; where all of a
 * warehouse is merged, the job is started anew when a shard has come or gone; the first signal
 * cancels it, the second ends the process at once. It needs no savepoint: what it was at is planned
 * anew.
 */
final class CompactRun {
  private static final long SECOND = 1000;

  private final CompactOptions options;
  private final Context context;
  private final Consumer<String> say;
  private final AtomicInteger signal = new AtomicInteger();
  private final CountDownLatch signalled = new CountDownLatch(1);
  private final long begun = System.nanoTime();

  CompactRun(CompactOptions options, Context context, Consumer<String> say) {
    this.options = options;
    this.context = context;
    this.say = say;
  }

  /** Merges until a signal comes; its exit code. */
  int run() throws Exception {
    Signals.handle(this::signal);
    List<ShardTarget> shards = options.find();
    while (signal.get() == 0) {
      shards = shards.isEmpty() ? waitForShards() : merge(shards);
    }
    return signal.get();
  }

  private void signal(int code) {
    if (!signal.compareAndSet(0, code)) {
      Runtime.getRuntime().halt(code);
    }
    context
        .err()
        .println("tidemark: stopping; merges under way are dropped; once more ends at once");
    signalled.countDown();
  }

  private List<ShardTarget> waitForShards() throws IOException, InterruptedException {
    say.accept("no shard in " + options.warehouse() + " yet; looking again every now and then");
    List<ShardTarget> found = List.of();
    while (found.isEmpty()
        && !signalled.await(options.findInterval().toMillis(), TimeUnit.MILLISECONDS)) {
      found = options.find();
    }
    return found;
  }

  /** Runs the job until a signal comes or the shards are others; those that are there then. */
  private List<ShardTarget> merge(List<ShardTarget> shards) throws Exception {
    try (ShardWatch watch = new ShardWatch(shards, options.store(), UnaryOperator.identity())) {
      EmbeddedJob job =
          EmbeddedJob.start(
              options,
              new StartPoint(Optional.empty(), false),
              env -> TidemarkJob.buildCompact(env, options, shards));
      say.accept("web UI " + job.ui() + "   merging " + names(shards));
      List<ShardTarget> found = shards;
      long looked = System.nanoTime();
      while (signal.get() == 0 && found.equals(shards)) {
        try {
          if (job.await(SECOND)) {
            throw new CommandException(Exit.JOB, "the job has ended, which it never should");
          }
        } catch (ExecutionException e) {
          throw JobFailure.of(e, Optional::empty);
        }
        if (signal.get() == 0) {
          watch.look();
          Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
          say.accept(Progress.line(elapsed, watch.shards(), context.clock().instant()));
        }
        if (System.nanoTime() - looked >= options.findInterval().toNanos()) {
          looked = System.nanoTime();
          found = found(shards);
        }
      }
      job.cancel();
      return found;
    }
  }

  /** A store that can't be reached for a while is no reason to stop merging. */
  private List<ShardTarget> found(List<ShardTarget> known) throws IOException {
    try {
      return options.find();
    } catch (StoreException e) {
      context
          .err()
          .println("tidemark: no look for new shards: " + Failures.oneLine("" + e.getMessage()));
      return known;
    }
  }

  private static String names(List<ShardTarget> shards) {
    List<String> names = shards.stream().map(ShardTarget::name).toList();
    return names.size() <= 10
        ? String.join(", ", names)
        : String.join(", ", names.subList(0, 10)) + " and " + (names.size() - 10) + " more";
  }
}
