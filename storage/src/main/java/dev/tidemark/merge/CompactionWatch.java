package dev.tidemark.merge;

import dev.tidemark.spine.Batch;
import java.util.List;

/**
 * Whoever looks on while a shard is compacted, and may end it. Called by the thread that merges.
 */
public interface CompactionWatch {
  /** Nobody: goes on to the end. */
  CompactionWatch NONE =
      new CompactionWatch() {
        @Override
        public boolean stopped() {
          return false;
        }

        @Override
        public void merging(Work work, long rows) {}
      };

  /**
   * A merge.
   *
   * @param number the how manieth of this compaction
   * @param level the level of its inputs; -1 for a consolidation
   * @param runs the runs that become one
   * @param rows how many rows these have
   * @param bytes their row bytes
   */
  record Work(long number, int level, int runs, long rows, long bytes) {
    static Work of(long number, int level, List<Batch> inputs) {
      return new Work(
          number,
          level,
          inputs.stream().mapToInt(Batch::runCount).sum(),
          inputs.stream().mapToLong(Batch::rows).sum(),
          inputs.stream().mapToLong(Batch::bytes).sum());
    }
  }

  /** Whether to stop: asked at each row; what isn't installed by then is an orphan. */
  boolean stopped();

  /**
   * A merge gets on: every few thousand rows, and at its end.
   *
   * @param rows the rows of its output so far
   */
  void merging(Work work, long rows);
}
