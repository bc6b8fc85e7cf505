package dev.tidemark.log;

import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Entries applied one after another to a state, on trial until the check ({@link ShardLog}): before
 * it a fault in them counts for nothing, so it is kept here.
 */
final class LogReading {
  private final LogFiles files;
  private final int sideBySide;
  private ShardState state;
  private @Nullable Exception failure;

  /**
   * Begins behind a state.
   *
   * @param sideBySide how many entries are read at a time where many are known to be there
   */
  LogReading(LogFiles files, int sideBySide, ShardState state) {
    this.files = files;
    this.sideBySide = sideBySide;
    this.state = state;
  }

  /** The state after the last entry that could be applied. */
  ShardState state() {
    return state;
  }

  /** Whether it ended at a fault. */
  boolean failed() {
    return failure != null;
  }

  /** Applies one entry; false when it doesn't fit or can't be read. */
  boolean step(byte[] bytes) {
    try {
      state = ShardLog.replay(state, files.decode(bytes, state.seqno().next()));
      return true;
    } catch (LogFormatException | CorruptShardException e) {
      failure = e;
      return false;
    }
  }

  /**
   * Reads up to the first number that is not there.
   *
   * @param listed the greatest number that is known to have been there
   */
  void toTheHead(SeqNo listed) throws IOException {
    while (true) {
      SeqNo next = state.seqno().next();
      long ahead = listed.value() - state.seqno().value();
      int count = (int) Math.max(1, Math.min(sideBySide, ahead));
      for (Optional<byte[]> bytes : files.entries(next, count)) {
        if (bytes.isEmpty() || !step(bytes.get())) {
          return;
        }
      }
    }
  }

  /** Throws the fault that it ended at, if it did. */
  void throwFailure() throws LogFormatException {
    if (failure instanceof LogFormatException e) {
      throw e;
    }
    if (failure instanceof CorruptShardException e) {
      throw e;
    }
  }
}
