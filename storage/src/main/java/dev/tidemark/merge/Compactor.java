package dev.tidemark.merge;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Does what the spine wants, one piece after another, from the log alone: plans, merges, installs.
 * For whoever can't wait for the side path of a job. Others may do the same at the same time: one
 * of them wins, the work of the others is lost.
 */
public final class Compactor {
  private final ShardLog log;
  private final Holds holds;
  private final RunMerger merger;
  private final Author by;
  private final Supplier<String> ids;

  /**
   * A compactor of one shard.
   *
   * @param ids gives ids that nobody else has, for the batches that merges make
   * @param memoryBytes what a merge may hold of its inputs (merge.memory)
   */
  public Compactor(
      ShardLog log, PartStore parts, Author by, Supplier<String> ids, long memoryBytes) {
    this.log = log;
    this.holds = new Holds(log);
    this.merger = new RunMerger(parts, memoryBytes);
    this.by = by;
    this.ids = ids;
  }

  /** A compactor of one shard with the default memory. */
  public Compactor(ShardLog log, PartStore parts, Author by, Supplier<String> ids) {
    this(log, parts, by, ids, RunMerger.DEFAULT_MEMORY_BYTES);
  }

  /** Does the most urgent thing, if there is one; whether the log has changed by it. */
  public boolean step() throws IOException {
    ShardState state = log.refresh();
    // The holds are listed after the state was read: no merge goes past any of them.
    Frontier since = state.since().min(holds.leastSince());
    List<MergePlan> plans =
        SpinePlanner.plan(state.spec(), state.batches(), since, state.consolidating(), Set.of());
    if (plans.isEmpty()) {
      return false;
    }
    MergePlan first = plans.get(0);
    if (first instanceof MergePlan.Promote promote) {
      return commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
    }
    if (first instanceof MergePlan.Merge merge) {
      return merge(state, merge.level(), merge.inputs(), merge.since());
    }
    MergePlan.Consolidate consolidate = (MergePlan.Consolidate) first;
    if (state.consolidating() == null) {
      return commit(new Command.BeginConsolidation(consolidate.upper()));
    }
    return merge(state, -1, consolidate.inputs(), consolidate.since());
  }

  private boolean merge(ShardState state, int level, List<String> inputs, Frontier since)
      throws IOException {
    Optional<Batch> output =
        merger.merge(state, inputs, since, ids.get(), RunMerger.Chunk.all(state));
    return output.isPresent() && commit(new Command.InstallMerge(level, inputs, output.get()));
  }

  private boolean commit(Command command) throws IOException {
    return log.commit(command, by) instanceof CommitResult.Committed;
  }
}
