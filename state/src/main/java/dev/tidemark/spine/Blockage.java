package dev.tidemark.spine;

import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What must happen for level 0 to count less: as far as the shard's facts tell, which say what is
 * wanted and not who is at it.
 *
 * @param cause what is missing
 * @param level the lowest level that something is wanted of; 0 when nothing is
 * @param levelRuns what that level counts
 * @param inputs the ids of the batches that are to be merged or promoted, oldest first
 * @param runs what they count
 * @param bytes their row bytes
 */
public record Blockage(
    Cause cause, int level, int levelRuns, List<String> inputs, int runs, long bytes) {
  /** Why level 0 counts what it does. */
  public enum Cause {
    /** The spec says that nothing is merged. */
    MERGING_OFF,
    /** The shard is retired: nothing is merged any more. */
    RETIRED,
    /** A merge is wanted. */
    MERGE,
    /** A batch is to move to the next level as it is. */
    PROMOTION,
    /** Nothing is wanted. */
    NOTHING
  }

  /** Copies the list. */
  public Blockage {
    inputs = List.copyOf(inputs);
  }

  /**
   * What is wanted first: of the lowest level that has a plan. A level below it without one waits
   * for room there.
   *
   * @param spec the shard's spec
   * @param batches all batches, oldest first
   * @param since the shard's since
   * @param consolidating the upper of the consolidation under way, null when none is
   */
  public static Blockage of(
      SpineSpec spec, List<Batch> batches, Frontier since, @Nullable Frontier consolidating) {
    Spine spine = Spine.of(batches, consolidating);
    if (!spec.merging()) {
      return without(Cause.MERGING_OFF, spine);
    }
    if (since.isEnd()) {
      return without(Cause.RETIRED, spine);
    }
    Cause cause = Cause.NOTHING;
    int level = Integer.MAX_VALUE;
    List<String> inputs = List.of();
    for (MergePlan plan : SpinePlanner.plan(spec, batches, since, consolidating, Set.of())) {
      if (plan instanceof MergePlan.Promote promote && promote.fromLevel() < level) {
        cause = Cause.PROMOTION;
        level = promote.fromLevel();
        inputs = List.of(promote.batch());
      } else if (plan instanceof MergePlan.Merge merge && merge.level() < level) {
        cause = Cause.MERGE;
        level = merge.level();
        inputs = merge.inputs();
      }
    }
    return cause == Cause.NOTHING
        ? without(cause, spine)
        : with(cause, level, spine.count(level), inputs, batches);
  }

  private static Blockage without(Cause cause, Spine spine) {
    return new Blockage(cause, 0, spine.count(0), List.of(), 0, 0);
  }

  private static Blockage with(
      Cause cause, int level, int levelRuns, List<String> inputs, List<Batch> batches) {
    Set<String> wanted = new HashSet<>(inputs);
    List<Batch> taken = new ArrayList<>();
    long bytes = 0;
    for (Batch batch : batches) {
      if (wanted.contains(batch.id())) {
        taken.add(batch);
        bytes += batch.bytes();
      }
    }
    return new Blockage(cause, level, levelRuns, inputs, Spine.weight(taken), bytes);
  }

  /** For people, without a full stop. */
  public String message() {
    switch (cause) {
      case MERGING_OFF -> {
        return "merging is off in the shard's spec (tidemark alter SHARD --merging on)";
      }
      case RETIRED -> {
        return "the shard is retired";
      }
      case MERGE -> {
        return "stuck is the merge of "
            + inputs.size()
            + " batches of level "
            + level
            + " ("
            + runs
            + " of the "
            + levelRuns
            + " runs that it counts, "
            + bytes
            + " bytes, oldest batch "
            + inputs.get(0)
            + ")";
      }
      case PROMOTION -> {
        return "stuck is moving batch "
            + inputs.get(0)
            + " ("
            + bytes
            + " bytes) from level "
            + level
            + " to the next";
      }
      case NOTHING -> {
        return "no merge is wanted";
      }
    }
    throw new AssertionError(cause);
  }
}
