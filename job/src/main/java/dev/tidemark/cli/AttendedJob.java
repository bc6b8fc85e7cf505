package dev.tidemark.cli;

import dev.tidemark.flink.InputCounts;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;

/** A job that was started, as whoever attends it sees it. */
interface AttendedJob {
  /**
   * Waits for the end of the job.
   *
   * @return whether it has ended
   * @throws ExecutionException when it failed
   */
  boolean await(long millis) throws ExecutionException, InterruptedException;

  /** The counters so far; once the job has ended, those of the whole. */
  Map<String, Long> counts() throws InterruptedException;

  /** Why not all of it runs; empty: all of it does, as far as is known. */
  Optional<String> waiting() throws InterruptedException;

  /** Once it has ended well: the savepoint that somebody else has stopped it with. */
  Optional<String> stoppedAt() throws InterruptedException;

  /** Those of a job's accumulators that say what became of its records. */
  static Map<String, Long> counts(Map<String, ?> accumulators) {
    Map<String, Long> counts = new TreeMap<>();
    accumulators.forEach(
        (name, value) -> {
          if (name.startsWith(InputCounts.PREFIX) && value instanceof Number number) {
            counts.put(name, number.longValue());
          }
        });
    return counts;
  }
}
