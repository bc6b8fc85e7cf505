package dev.tidemark.log;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.Optional;

/**
 * A handle on a shard's log: the known state, reading it on, and the one loop that commits.
 * Thread-safe; commands of one handle are committed one after another. Sees everything through the
 * check of closed blocks (docs/format.md).
 */
public final class ShardLog {
  /** A handle on the shard below the store's prefix. Reaches nothing yet. */
  public ShardLog(ObjectStore store) {}

  /** The store below the shard's prefix. */
  public ObjectStore store() {
    throw new UnsupportedOperationException();
  }

  /**
   * The state as last seen, without asking the store; {@link ShardState#EMPTY} before the first
   * look.
   */
  public ShardState known() {
    throw new UnsupportedOperationException();
  }

  /** Reads on to the head. */
  public ShardState refresh() throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Refresh as need be, decide, compare-and-set, on a lost race again.
   *
   * @throws dev.tidemark.store.StoreException when the store can't be reached within its tries:
   *     then nobody knows whether the command was committed; asking again is safe
   */
  public CommitResult commit(Command command, Author by) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** One version's entry; empty when it is not in the log (not yet, or no longer). */
  public Optional<LogEntry> entry(SeqNo seqno) throws IOException {
    throw new UnsupportedOperationException();
  }
}
