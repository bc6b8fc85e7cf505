package dev.tidemark.log;

import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Invariants;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All facts of a version in one object, so that a cold start need not read the log from its
 * beginning. Nothing hangs on any one of them: a damaged or missing one makes an older one do.
 */
final class Rollups {
  private static final Logger LOG = LoggerFactory.getLogger(Rollups.class);

  private final ObjectStore store;
  private final LogFiles files;

  Rollups(ObjectStore store, LogFiles files) {
    this.store = store;
    this.files = files;
  }

  /** The newest of {@code listed} that reads whole; no facts at version 0 if none does. */
  ShardState newest(List<SeqNo> listed) throws IOException {
    for (int i = listed.size() - 1; i >= 0; i--) {
      Optional<ShardState> state = read(listed.get(i));
      if (state.isPresent()) {
        return state.get();
      }
    }
    return ShardState.EMPTY;
  }

  /**
   * The state that a rollup holds; empty when it isn't there or is damaged.
   *
   * @throws LogFormatException when it is of a newer format
   */
  Optional<ShardState> read(SeqNo seqno) throws IOException {
    String key = LogFiles.rollupKey(seqno);
    Optional<byte[]> bytes = files.get(key);
    if (bytes.isEmpty()) {
      return Optional.empty();
    }
    try {
      LogEntry entry = LogCodec.decode(bytes.get(), store.location() + "/" + key);
      ShardState state = ShardState.of(seqno, entry.diff().add());
      if (!entry.command().equals(LogCodec.ROLLUP)
          || !entry.seqno().equals(seqno)
          || !state.exists()
          || !state.shard().equals(entry.shard())) {
        throw new CorruptShardException("no rollup of version " + seqno);
      }
      Invariants.check(state);
      return Optional.of(state);
    } catch (LogFormatException e) {
      if (e.newerFormat()) {
        throw e;
      }
      LOG.warn("An older rollup must do, this one can't be read: {}", e.getMessage());
    } catch (CorruptShardException | IllegalArgumentException e) {
      LOG.warn(
          "An older rollup must do, {}/{} is damaged: {}", store.location(), key, e.getMessage());
    }
    return Optional.empty();
  }

  /** Writes a state as a rollup. That it can't be written harms nothing and is only logged. */
  void write(ShardState state, Author by, String nonce, String at) {
    LogEntry rollup =
        new LogEntry(
            LogCodec.FORMAT,
            state.shard(),
            state.seqno(),
            nonce,
            at,
            by,
            LogCodec.ROLLUP,
            new Diff(List.of(), state.facts()));
    try {
      store.putIfAbsent(LogFiles.rollupKey(state.seqno()), LogCodec.encode(rollup));
    } catch (StoreException e) {
      LOG.warn("{}: no rollup of version {}: {}", store.location(), state.seqno(), e.getMessage());
    }
  }
}
