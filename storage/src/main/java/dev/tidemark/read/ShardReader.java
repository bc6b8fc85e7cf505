package dev.tidemark.read;

import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import java.io.IOException;

/** Reads a shard at a time, exactly. */
public final class ShardReader {
  /** Reads what {@code log} knows; it is refreshed at need. */
  public ShardReader(ShardLog log) {}

  /**
   * The collection at {@code asOf}: every row that is there then, with its multiplicity as diff and
   * {@code asOf} as time, in run order. Bounded memory: a few blocks a run.
   *
   * @param state the state to read
   * @throws ReadRefusedException when asOf is before since or not yet durable, naming both
   */
  public UpdateCursor snapshot(ShardState state, long asOfMillis) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The error rows at {@code asOf} (reason, raw, origin, table), likewise. */
  public UpdateCursor errors(ShardState state, long asOfMillis) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The parts of this shard. */
  public PartStore parts() {
    throw new UnsupportedOperationException();
  }
}
