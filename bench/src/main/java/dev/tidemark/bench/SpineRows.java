package dev.tidemark.bench;

import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;

/** The rows behind a shard's batches: real ones in files, or only how many there would be. */
interface SpineRows {
  /** Writes a fresh batch of so many runs. */
  Batch write(ShardState state, BatchDescription bounds, KeyUpdates.Commit commit, int runs)
      throws IOException;

  /** How a merge is cut. */
  List<KeyRange> chunks(ShardState state, List<Batch> inputs) throws IOException;

  /** Merges a chunk. */
  Merged merge(ShardState state, List<Batch> inputs, Frontier since, KeyRange chunk)
      throws IOException;

  /**
   * A merged chunk.
   *
   * @param nanos the CPU time that it took
   */
  record Merged(Batch batch, long nanos) {}
}
