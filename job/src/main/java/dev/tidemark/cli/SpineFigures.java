package dev.tidemark.cli;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import java.util.List;
import java.util.OptionalDouble;

/**
 * How a shard stands against the bounds that its spec promises (docs/spec.md).
 *
 * @param runs runs that a reader merges now
 * @param runsBound the most there may be
 * @param writeAmplification bytes written over bytes appended; empty when the log no longer tells
 * @param writeBound the most it may be
 * @param spaceAmplification of the rows at or before since
 * @param spaceBound the most it may be at rest
 */
record SpineFigures(
    long runs,
    long runsBound,
    OptionalDouble writeAmplification,
    double writeBound,
    double spaceAmplification,
    double spaceBound) {

  /** The figures of a state that {@code history} has been read up to. */
  static SpineFigures of(ShardState state, ShardHistory history) {
    Bounds bounds = Bounds.of(state.spec(), history.appendedRuns(), history.appendedBytes());
    int highest = state.batches().stream().mapToInt(Batch::level).max().orElse(0);
    long runs = Math.max(bounds.runs(), (long) state.spec().queue() * (highest + 1));
    return new SpineFigures(
        runs(state),
        state.consolidating() == null ? runs : 2 * runs,
        history.whole() ? OptionalDouble.of(history.writeAmplification()) : OptionalDouble.empty(),
        bounds.writesAtWorst(),
        spaceAmplification(state),
        bounds.space());
  }

  static long runs(ShardState state) {
    return state.batches().stream().mapToLong(Batch::runCount).sum();
  }

  /** Bytes of the batches all of whose rows are at or before since, over those without garbage. */
  private static double spaceAmplification(ShardState state) {
    List<Batch> old =
        state.batches().stream()
            .filter(batch -> batch.rows() > 0 && batch.maxTime() <= state.since().time())
            .toList();
    long bytes = old.stream().mapToLong(Batch::bytes).sum();
    long garbage = 2 * old.stream().mapToLong(Batch::retracted).sum();
    return bytes == 0 || garbage >= bytes ? 1 : bytes / (double) (bytes - garbage);
  }
}
