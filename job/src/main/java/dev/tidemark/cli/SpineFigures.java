package dev.tidemark.cli;

import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.Written;
import java.util.List;
import java.util.OptionalDouble;

/**
 * How a shard stands against the bounds that its spec promises (docs/spec.md).
 *
 * @param runs runs that a reader merges now
 * @param runsBound the most there may be
 * @param writeAmplification bytes written over bytes appended; empty when the shard doesn't count
 * @param writeBound the most it may be; NaN when the shard doesn't count
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

  /** The figures of a state. */
  static SpineFigures of(ShardState state) {
    Written counted = state.written();
    Written written = counted == null ? Written.NONE : counted;
    Bounds bounds = Bounds.of(state.spec(), written);
    Spine spine = state.spine();
    int queue = state.spec().queue();
    long runs = Math.max(bounds.runs(), (long) queue * (spine.highest() + 1));
    // What a greater queue of before let in counts until it is merged.
    long over =
        spine.levels().stream().mapToLong(level -> Math.max(0, spine.count(level) - queue)).sum();
    return new SpineFigures(
        runs(state),
        (state.consolidating() == null ? runs : 2 * runs) + over,
        counted == null ? OptionalDouble.empty() : OptionalDouble.of(written.amplification()),
        counted == null ? Double.NaN : bounds.writesAtWorst(),
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
