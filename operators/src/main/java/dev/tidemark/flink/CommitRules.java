package dev.tidemark.flink;

import dev.tidemark.flink.decode.Envelope;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Which of {@code commit}, {@code late}, {@code start}, {@code source.envelope}, {@code read-only}
 * and {@code on-concurrent-writer} go together: the table of docs/operations.md. Pure.
 */
public final class CommitRules {
  /** More often, commits overtake each other's requests. */
  private static final Duration LEAST_INTERVAL = Duration.ofMillis(10);

  private CommitRules() {}

  /**
   * What doesn't go together.
   *
   * @param start what a job without state does with a shard that has data
   * @param checkpointing whether the job takes checkpoints
   * @param envelopes how the rows of each shard are to be taken, by the shard's name; those of a
   *     job of one's own, which nobody knows, are left out
   * @return one line that names the keys and the mend; empty when all is well
   */
  public static Optional<String> refusal(
      CommitSettings commit,
      StartMode start,
      boolean checkpointing,
      Map<String, Envelope> envelopes) {
    return commit.isFrontier()
        ? frontier(commit, start, checkpointing).or(() -> ofRows(commit, envelopes))
        : checkpoint(commit, checkpointing);
  }

  /**
   * Refuses what doesn't go together.
   *
   * @throws IllegalArgumentException saying what {@link #refusal} says
   */
  static void require(
      CommitSettings commit,
      StartMode start,
      boolean checkpointing,
      Map<String, Envelope> envelopes) {
    Optional<String> refusal = refusal(commit, start, checkpointing, envelopes);
    if (refusal.isPresent()) {
      throw new IllegalArgumentException(refusal.get());
    }
  }

  private static Optional<String> checkpoint(CommitSettings commit, boolean checkpointing) {
    if (!checkpointing) {
      return Optional.of(
          "checkpointing is off, and with commit = checkpoint nothing would ever be committed:"
              + " set checkpoint.interval, or commit = frontier");
    }
    if (commit.late() != LateRows.RETIME) {
      return Optional.of(
          "late = "
              + word(commit.late())
              + " needs commit = frontier: with commit = checkpoint late rows are stored, with the"
              + " next open time (late = retime)");
    }
    if (commit.readOnly()) {
      return Optional.of(
          "read-only = true needs commit = frontier: what is committed with a checkpoint can't"
              + " wait for another writer");
    }
    if (commit.lenient()) {
      return Optional.of(
          "on-concurrent-writer = lenient needs commit = frontier: only what has its own time can"
              + " be fitted to what another writer has appended");
    }
    return Optional.empty();
  }

  private static Optional<String> frontier(
      CommitSettings commit, StartMode start, boolean checkpointing) {
    if (commit.late() == LateRows.RETIME) {
      return Optional.of(
          "late = retime needs commit = checkpoint: with commit = frontier a row that is read again"
              + " is known by its time only, so it must keep it; take late = fail or late = drop");
    }
    if (commit.mintInterval().compareTo(LEAST_INTERVAL) < 0) {
      return Optional.of(
          "mint.interval is "
              + commit.mintInterval().toMillis()
              + " ms: each interval costs requests; take at least "
              + LEAST_INTERVAL.toMillis()
              + " ms");
    }
    if (start == StartMode.APPEND && !checkpointing) {
      return Optional.of(
          "start = append with commit = frontier waits for the first checkpoint, which keeps from"
              + " which time on the rows are new, and checkpointing is off: set"
              + " checkpoint.interval, or take start = resume-by-time");
    }
    return Optional.empty();
  }

  private static Optional<String> ofRows(CommitSettings commit, Map<String, Envelope> envelopes) {
    for (Map.Entry<String, Envelope> shard : envelopes.entrySet()) {
      Envelope envelope = shard.getValue();
      String of = "envelope = " + envelope.name().toLowerCase(Locale.ROOT);
      String shardIs = " (shard " + shard.getKey() + ")";
      if (commit.late() == LateRows.DROP && envelope != Envelope.APPEND) {
        return Optional.of(
            "late = drop and "
                + of
                + shardIs
                + ": a change left out would corrupt what is there; take late = fail, or commit ="
                + " checkpoint");
      }
      if (envelope == Envelope.UPSERT && (commit.readOnly() || commit.lenient())) {
        return Optional.of(
            (commit.readOnly() ? "read-only = true" : "on-concurrent-writer = lenient")
                + " and "
                + of
                + shardIs
                + ": a job that keeps rows by key beside another's would retract what isn't there;"
                + " take envelope = append or changelog");
      }
    }
    return Optional.empty();
  }

  private static String word(LateRows late) {
    return late.name().toLowerCase(Locale.ROOT);
  }
}
