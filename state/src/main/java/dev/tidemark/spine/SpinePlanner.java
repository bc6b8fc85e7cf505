package dev.tidemark.spine;

import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which batches are merged next: the rules of docs/spec.md, as a pure function of the
 * shard's facts.
 */
public final class SpinePlanner {
  private SpinePlanner() {}

  /**
   * What should be done now, most urgent first (lowest level first, consolidation last).
   *
   * @param spec the shard's spec
   * @param batches all batches, oldest first
   * @param since the shard's since
   * @param consolidating the upper of the consolidation under way, null when none is
   * @param inMerge the ids of the batches that a merge under way has as inputs
   */
  public static List<MergePlan> plan(
      SpineSpec spec,
      List<Batch> batches,
      Frontier since,
      @Nullable Frontier consolidating,
      Set<String> inMerge) {
    throw new UnsupportedOperationException();
  }
}
