package dev.tidemark.flink.spine;

import dev.tidemark.spine.Batch;
import java.util.List;
import java.util.Map;

/**
 * A merge that was asked for, over once one of its inputs is gone or at another level. It is asked
 * for again when no chunk of it was done for long, each time after longer.
 */
final class AskedMerge {
  /** After this long without a chunk that was done it is asked for again. */
  private static final long DEADLINE_MILLIS = 120_000;

  /** One that keeps failing is asked for again after at most this many doublings of that. */
  private static final int MOST_DOUBLINGS = 5;

  /** After this long one that couldn't be cut is cut again, with as many doublings. */
  private static final long RECUT_MILLIS = 5_000;

  private final int level;
  private final List<Batch> inputs;
  private String plan = "";
  private int tries;
  private long deadline;

  /**
   * Not asked for yet.
   *
   * @param level the level of the inputs
   * @param inputs the batches, oldest first
   */
  AskedMerge(int level, List<Batch> inputs) {
    this.level = level;
    this.inputs = List.copyOf(inputs);
  }

  int level() {
    return level;
  }

  List<Batch> inputs() {
    return inputs;
  }

  List<String> ids() {
    return inputs.stream().map(Batch::id).toList();
  }

  /** The plan's id; empty until it is cut. */
  String plan() {
    return plan;
  }

  /** Whether it was done, or can't be any more, where these batches are there, by id. */
  boolean isOver(Map<String, Batch> batches) {
    for (Batch input : inputs) {
      Batch now = batches.get(input.id());
      if (now == null || now.level() != input.level()) {
        return true;
      }
    }
    return false;
  }

  /** It is being cut. */
  void asked(long now) {
    deadline = now + (DEADLINE_MILLIS << tries);
  }

  /** It couldn't be cut. */
  void notCut(long now) {
    deadline = now + (RECUT_MILLIS << tries);
  }

  /** It was cut into the chunks of a plan. */
  void cut(String planId) {
    plan = planId;
  }

  /**
   * Whether to ask for it once more.
   *
   * @param heard when a chunk of it was done last
   */
  boolean isOverdue(long now, long heard) {
    return deadline <= now && heard <= now - (DEADLINE_MILLIS << tries);
  }

  /** It is asked for once more. */
  void again() {
    tries = Math.min(tries + 1, MOST_DOUBLINGS);
  }
}
