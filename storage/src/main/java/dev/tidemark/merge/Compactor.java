package dev.tidemark.merge;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartGoneException;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision.Refusal.LevelFull;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does what the spine wants, one piece after another, from the log alone: plans, merges, installs.
 * For whoever can't wait for the side path of a job. Others may do the same at the same time: one
 * of them wins, the work of the others is lost. No merge goes past any hold's since. Not
 * thread-safe.
 */
public final class Compactor {
  /** The default of merge.chunk-bytes. */
  public static final long DEFAULT_CHUNK_BYTES = 256L << 20;

  /** So many rows from one word to the watch to the next, less 1: a power of two. */
  private static final long ROWS_MASK = (1 << 12) - 1;

  private final ShardLog log;
  private final PartStore parts;
  private final Holds holds;
  private final Author by;
  private final Supplier<String> ids;
  private final long memoryBytes;
  private final long chunkBytes;

  private CompactionWatch watch = CompactionWatch.NONE;
  private long merges;
  private long promotions;
  private long lost;
  private long bytesRead;
  private long bytesWritten;

  /**
   * A compactor of one shard.
   *
   * @param ids gives ids that nobody else has, for the batches that merges make
   * @param memoryBytes what a merge may hold of its inputs (merge.memory)
   * @param chunkBytes how much of a merge is done at a time (merge.chunk-bytes)
   */
  public Compactor(
      ShardLog log,
      PartStore parts,
      Author by,
      Supplier<String> ids,
      long memoryBytes,
      long chunkBytes) {
    this.log = log;
    this.parts = parts;
    this.holds = new Holds(log);
    this.by = by;
    this.ids = ids;
    this.memoryBytes = memoryBytes;
    this.chunkBytes = chunkBytes;
  }

  /** A compactor of one shard with the default memory. */
  public Compactor(ShardLog log, PartStore parts, Author by, Supplier<String> ids) {
    this(log, parts, by, ids, RunMerger.DEFAULT_MEMORY_BYTES, DEFAULT_CHUNK_BYTES);
  }

  /** Does the most urgent thing, if there is one; whether the log has changed by it. */
  public boolean step() throws IOException {
    ShardState state = log.refresh();
    List<MergePlan> plans = plans(state, state.spec());
    return !plans.isEmpty() && act(state, plans.get(0)) == null;
  }

  /**
   * Does all that is wanted of batches that are there when it begins. Where merging is off it does
   * what would be wanted were it on.
   *
   * @throws IOException when a merge is refused for good, or the store's
   */
  public CompactionReport wanted(CompactionWatch by) throws IOException {
    return compact(by, false);
  }

  /**
   * Merges all batches that are there when it begins into one run, those with rows past since too,
   * then does what is wanted behind them. Where they are one run that has nothing left to cancel it
   * does nothing.
   *
   * @throws IOException as {@link #wanted}
   */
  public CompactionReport full(CompactionWatch by) throws IOException {
    return compact(by, true);
  }

  private CompactionReport compact(CompactionWatch looksOn, boolean full) throws IOException {
    watch = looksOn;
    merges = 0;
    promotions = 0;
    lost = 0;
    bytesRead = 0;
    bytesWritten = 0;
    ShardState before = log.refresh();
    Frontier target = before.upper();
    boolean stopped = false;
    try {
      boolean whole = !full || before.batches().isEmpty();
      while (!whole) {
        whole = stepToOne(target);
      }
      boolean more = true;
      while (more) {
        more = stepBelow(target);
      }
    } catch (CancellationException e) {
      stopped = true;
    }
    return new CompactionReport(
        before, log.refresh(), merges, promotions, lost, bytesRead, bytesWritten, stopped);
  }

  /** Does the most urgent thing that has to do with what is below {@code target}, if any. */
  private boolean stepBelow(Frontier target) throws IOException {
    ShardState state = log.refresh();
    for (MergePlan plan : plans(state, state.spec().withMerging(true))) {
      if (isBelow(state, plan, target)) {
        demand(state, act(state, plan));
        return true;
      }
    }
    return false;
  }

  private static boolean isBelow(ShardState state, MergePlan plan, Frontier target) {
    String oldest =
        plan instanceof MergePlan.Promote promote
            ? promote.batch()
            : plan instanceof MergePlan.Merge merge
                ? merge.inputs().get(0)
                : ((MergePlan.Consolidate) plan).inputs().get(0);
    return state.batches().stream()
        .anyMatch(b -> b.id().equals(oldest) && b.bounds().lower().isBefore(target));
  }

  /** A step towards one run of all below {@code target}; whether it is there. */
  private boolean stepToOne(Frontier target) throws IOException {
    ShardState state = log.refresh();
    if (state.retired()) {
      return true;
    }
    Frontier since = state.since().min(holds.leastSince());
    Frontier announced = state.consolidating();
    if (announced == null) {
      List<Batch> below = below(state, target);
      if (isOne(below, since)) {
        return true;
      }
      Frontier upper = below.get(below.size() - 1).bounds().upper();
      demand(state, commit(new Command.ForceConsolidation(upper)));
      return false;
    }
    List<Batch> inputs = state.spine().consolidating();
    CommitResult refused = merge(state, -1, ids(inputs), since);
    while (isFull(refused)) {
      // Merges behind it have filled the level that it goes to: there is one to make room.
      if (!stepBelow(Frontier.END)) {
        break;
      }
      refused = merge(log.refresh(), -1, ids(inputs), since);
    }
    demand(state, refused);
    return false;
  }

  private static List<Batch> below(ShardState state, Frontier target) {
    return state.batches().stream().filter(b -> b.bounds().lower().isBefore(target)).toList();
  }

  /** Whether nothing is gained by merging these once more. */
  private static boolean isOne(List<Batch> batches, Frontier since) {
    List<Batch> full =
        batches.stream().filter(b -> b.runCount() > 0 || !b.errors().isEmpty()).toList();
    if (full.isEmpty()) {
      return true;
    }
    Batch one = full.get(0);
    boolean nothingToCancel =
        one.retracted() == 0 || Spine.isSettled(one) || !one.since().isBefore(since);
    return full.size() == 1 && one.runCount() <= 1 && !one.cut() && nothingToCancel;
  }

  private static boolean isFull(@Nullable CommitResult result) {
    return result instanceof CommitResult.Refused refused && refused.refusal() instanceof LevelFull;
  }

  private List<MergePlan> plans(ShardState state, SpineSpec spec) throws IOException {
    // The holds are listed after the state was read: no merge goes past any of them.
    Frontier since = state.since().min(holds.leastSince());
    return SpinePlanner.plan(spec, state.batches(), since, state.consolidating(), Set.of());
  }

  /** Null when the log has changed by it. */
  private @Nullable CommitResult act(ShardState state, MergePlan plan) throws IOException {
    if (plan instanceof MergePlan.Promote promote) {
      CommitResult result = commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
      promotions += result == null ? 1 : 0;
      return result;
    }
    if (plan instanceof MergePlan.Merge merge) {
      return merge(state, merge.level(), merge.inputs(), merge.since());
    }
    MergePlan.Consolidate consolidate = (MergePlan.Consolidate) plan;
    return state.consolidating() == null
        ? commit(new Command.BeginConsolidation(consolidate.upper()))
        : merge(state, -1, consolidate.inputs(), consolidate.since());
  }

  private @Nullable CommitResult merge(
      ShardState state, int level, List<String> inputs, Frontier since) throws IOException {
    Set<String> wanted = new HashSet<>(inputs);
    List<Batch> batches =
        state.batches().stream().filter(batch -> wanted.contains(batch.id())).toList();
    CompactionWatch.Work work = CompactionWatch.Work.of(merges + lost + 1, level, batches);
    Optional<Batch> output;
    try {
      output = output(state, batches, since, work);
    } catch (PartGoneException e) {
      // Another's merge may have been installed, and its inputs collected.
      Set<String> left = new HashSet<>(ids(log.refreshChecked().batches()));
      if (left.containsAll(inputs)) {
        throw e;
      }
      output = Optional.empty();
    }
    if (output.isEmpty()) {
      lost++;
      return new CommitResult.Nothing(log.known(), "its inputs are no longer there");
    }
    bytesRead += work.bytes();
    bytesWritten += output.get().bytes();
    CommitResult result = commit(new Command.InstallMerge(level, inputs, output.get()));
    merges += result == null ? 1 : 0;
    lost += result == null ? 0 : 1;
    return result;
  }

  /** The merged batch, chunk by chunk; empty when an input isn't there. */
  private Optional<Batch> output(
      ShardState state, List<Batch> inputs, Frontier since, CompactionWatch.Work work)
      throws IOException {
    Counted counted = new Counted(watch, work);
    RunMerger merger = new RunMerger(parts, memoryBytes, counted::count);
    int schema = state.schema().id();
    List<Batch> chunks = new ArrayList<>();
    for (KeyRange range : MergeChunks.cut(parts, inputs, chunkBytes)) {
      RunMerger.Chunk chunk = new RunMerger.Chunk(range, schema, chunks.isEmpty());
      Optional<Batch> merged = merger.merge(state, ids(inputs), since, ids.get(), chunk);
      if (merged.isEmpty()) {
        return merged;
      }
      chunks.add(merged.get());
    }
    watch.merging(work, counted.rows);
    return Optional.of(RunMerger.join(ids.get(), chunks));
  }

  /** Null when it was committed. */
  private @Nullable CommitResult commit(Command command) throws IOException {
    if (watch.stopped()) {
      throw new CancellationException();
    }
    CommitResult result = log.commit(command, by);
    return result instanceof CommitResult.Committed ? null : result;
  }

  /**
   * A refusal is of no matter where the shard has changed meanwhile: what is wanted of it now is
   * planned anew. Else it would be refused again and again.
   */
  private static void demand(ShardState planned, @Nullable CommitResult refused)
      throws IOException {
    if (refused != null && refused.state().seqno().equals(planned.seqno())) {
      throw new IOException(
          planned
              + ": a merge came to nothing: "
              + (refused instanceof CommitResult.Refused no
                  ? no.refusal().message()
                  : ((CommitResult.Nothing) refused).reason()));
    }
  }

  private static List<String> ids(List<Batch> batches) {
    return batches.stream().map(Batch::id).toList();
  }

  /** Counts the rows of a merge's output and looks whether to stop. */
  private static final class Counted {
    private final CompactionWatch watch;
    private final CompactionWatch.Work work;
    private long rows;

    Counted(CompactionWatch watch, CompactionWatch.Work work) {
      this.watch = watch;
      this.work = work;
    }

    UpdateCursor count(UpdateCursor updates) {
      return new ForwardingCursor(updates) {
        @Override
        public boolean next() throws IOException {
          if (watch.stopped()) {
            throw new CancellationException();
          }
          if ((++rows & ROWS_MASK) == 0) {
            watch.merging(work, rows);
          }
          return this.updates.next();
        }
      };
    }
  }
}
