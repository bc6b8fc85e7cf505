package dev.tidemark.shard;

import dev.tidemark.time.Frontier;

/** What the machine says to a command. */
public sealed interface Decision {
  /**
   * Commit this diff.
   *
   * @param diff what changes
   * @param admitted for an append, how many of its batches the diff holds; else 1
   */
  record Commit(Diff diff, int admitted) implements Decision {}

  /** There is nothing to do: it is done already, or no longer fits and need not. */
  record Nothing(String reason) implements Decision {}

  /** The command may not be. */
  sealed interface Refusal extends Decision {
    /** One line for people: what is in the way, and what can be done. */
    String message();

    /** The append doesn't begin at the shard's upper. */
    record UpperMismatch(Frontier shardUpper, String message) implements Refusal {}

    /** Level 0 counts K runs: wait for merges. */
    record SpineFull(int runs, int queue, String message) implements Refusal {}

    /** The level that a batch is to enter counts K runs: wait until it was merged, try again. */
    record LevelFull(int level, int runs, int queue, String message) implements Refusal {}

    /**
     * A fresh batch has more runs than one may by the spec as it is now, perhaps because that was
     * altered since the batch was cut: merge some of its runs into one, and append it again.
     *
     * @param most how many it may have
     */
    record TooManyRuns(int runs, int most, String message) implements Refusal {}

    /** A younger attempt of the same writer has appended. */
    record Fenced(String message) implements Refusal {}

    /** The command can never be: it contradicts the shard or itself. */
    record Invalid(String message) implements Refusal {}

    /**
     * A part is of a day that was swept, so it may have been deleted: whoever brings it was asleep
     * or restored from something too old, and must not go on.
     */
    record Swept(String part, String day, String message) implements Refusal {}

    /** A merge's inputs are no longer there. */
    record Stale(String message) implements Refusal {}

    /** There is no shard here, or there is one already. */
    record Existence(String message) implements Refusal {}
  }
}
