package dev.tidemark.cli;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
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
    SpineSpec spec = state.spec();
    double levels = levels(spec, history.appendedRuns(), history.appendedBytes());
    int highest = state.batches().stream().mapToInt(Batch::level).max().orElse(0);
    long depth = history.whole() ? (long) Math.floor(levels) : highest;
    long bound = (long) spec.queue() * (Math.max(depth, highest) + 1);
    return new SpineFigures(
        runs(state),
        state.consolidating() == null ? bound : 2 * bound,
        history.whole() ? OptionalDouble.of(history.writeAmplification()) : OptionalDouble.empty(),
        levels + 2 + 2 * spec.space() / (spec.space() - 1),
        spaceAmplification(state),
        spec.space());
  }

  static long runs(ShardState state) {
    return state.batches().stream().mapToLong(Batch::runCount).sum();
  }

  /** L of docs/spec.md, one more for rule 6. */
  private static double levels(SpineSpec spec, long runs, long bytes) {
    double weight = runs + (spec.fanIn() + 4) * (bytes / (double) spec.baseBytes());
    return weight <= 1 ? 1 : Math.log(weight) / Math.log(spec.fanIn()) + 1;
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
