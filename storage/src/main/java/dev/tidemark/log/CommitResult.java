package dev.tidemark.log;

import dev.tidemark.shard.Decision;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;

/** How a command ended. */
public sealed interface CommitResult {
  /** The state that the command was last decided on, or made. */
  ShardState state();

  /** Committed as version {@code entry.seqno()}; {@code admitted} as in {@link Decision.Commit}. */
  record Committed(ShardState state, LogEntry entry, int admitted) implements CommitResult {
    /** The version it became. */
    public SeqNo seqno() {
      return entry.seqno();
    }
  }

  /** There was nothing to do. */
  record Nothing(ShardState state, String reason) implements CommitResult {}

  /** It may not be. */
  record Refused(ShardState state, Decision.Refusal refusal) implements CommitResult {}
}
