package dev.tidemark.spine;

import dev.tidemark.time.Frontier;
import java.util.List;

/** One thing that the spine wants done. */
public sealed interface MergePlan {
  /**
   * Rule 2, metadata only: the oldest batch of its level moves to the tail of the next level.
   *
   * @param batch the batch's id
   * @param fromLevel the level it leaves
   */
  record Promote(String batch, int fromLevel) implements MergePlan {}

  /**
   * Rules 3 and 6: the oldest batches of a level become one.
   *
   * @param level the level they lie in
   * @param inputs their ids, oldest first
   * @param since what times are advanced to
   */
  record Merge(int level, List<String> inputs, Frontier since) implements MergePlan {}

  /**
   * Rule 4: the oldest batches of the shard become one. The fact {@code consolidating(upper)} is
   * committed first.
   *
   * @param inputs their ids, oldest first
   * @param upper the upper of the last of them
   * @param since what times are advanced to
   */
  record Consolidate(List<String> inputs, Frontier upper, Frontier since) implements MergePlan {}
}
