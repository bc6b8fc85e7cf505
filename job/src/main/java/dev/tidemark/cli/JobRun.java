package dev.tidemark.cli;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.job.JobOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Attends a job from its start to its end: a line of progress a second; the first signal stops one
 * that runs in this process with a savepoint, and leaves one on a cluster running; the second ends
 * the process at once.
 */
final class JobRun {
  private static final long SECOND = 1000;

  private final JobOptions options;
  private final AttendedJob job;
  private final ShardWatch watch;
  private final Context context;
  private final Consumer<String> progress;
  private final AtomicInteger signal = new AtomicInteger();
  private final AtomicReference<String> savepoint = new AtomicReference<>();

  JobRun(
      JobOptions options,
      AttendedJob job,
      ShardWatch watch,
      Context context,
      Consumer<String> progress) {
    this.options = options;
    this.job = job;
    this.watch = watch;
    this.context = context;
    this.progress = progress;
  }

  /**
   * Waits for the end, or for the signal to leave.
   *
   * @throws CommandException when the job failed
   */
  RunOutcome attend() throws IOException, InterruptedException {
    long begun = System.nanoTime();
    Signals.handle(this::signalled);
    boolean ended = false;
    Map<String, Long> seen = new TreeMap<>();
    while (!ended && !left()) {
      try {
        ended = job.await(SECOND);
      } catch (ExecutionException e) {
        throw JobFailure.of(e, watch::others);
      }
      if (!ended && signal.get() == 0) {
        watch.look();
        seen.putAll(job.counts());
        Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
        Optional<String> waiting = job.waiting();
        progress.accept(
            waiting.isPresent()
                ? Progress.line(elapsed, waiting.get())
                : Progress.line(elapsed, seen, watch.shards(), context.clock().instant()));
      }
    }
    long millis = Duration.ofNanos(System.nanoTime() - begun).toMillis();
    if (!ended) {
      return new RunOutcome(signal.get(), seen, false, Optional.empty(), millis);
    }
    watch.finish();
    Map<String, Long> counts = job.counts();
    // A source that was at its end before a restart isn't started again, and so counts nothing.
    boolean whole = counts.containsKey(InputCounts.READ);
    seen.forEach(counts::putIfAbsent);
    Optional<String> elsewhere = job.stoppedAt();
    return new RunOutcome(
        signal.get(),
        counts,
        whole,
        Optional.ofNullable(savepoint.get()).or(() -> elsewhere),
        millis);
  }

  /** Whether a signal has come for one who is not needed for the job to go on. */
  private boolean left() {
    return signal.get() != 0 && !(job instanceof EmbeddedJob);
  }

  /** The first time: stop, or leave. The second: end. */
  private void signalled(int code) {
    if (!signal.compareAndSet(0, code)) {
      Runtime.getRuntime().halt(code);
    }
    if (job instanceof EmbeddedJob embedded) {
      Thread stopper = new Thread(() -> stop(embedded, code), "stop-with-savepoint");
      stopper.setDaemon(true);
      stopper.start();
    }
  }

  private void stop(EmbeddedJob embedded, int code) {
    context.err().println("tidemark: stopping with a savepoint; once more ends at once");
    try {
      savepoint.set(embedded.stop(options.savepointDirectory()));
    } catch (ExecutionException | TimeoutException | InterruptedException e) {
      context
          .err()
          .println(
              "tidemark: no savepoint ("
                  + Failures.oneLine(JobFailure.of(e, Optional::empty).getMessage() + "")
                  + "); the last checkpoint is what a restart goes on from");
      Runtime.getRuntime().halt(code);
    }
  }
}
