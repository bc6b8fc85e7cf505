package dev.tidemark.log;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStore.Created;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.Optional;

/**
 * Writes one entry under its number, once, whatever the store answers. Only the bytes that are
 * under the key afterwards tell who won: an answer that says "exists" may be about our own earlier
 * try, and an answer that never came about a write that took place.
 */
final class EntryWrite {
  /** How a write ended. */
  sealed interface Outcome {}

  /** The number is ours. */
  record Won() implements Outcome {}

  /** The number is another's. */
  static final class Lost implements Outcome {
    private final byte[] winner;

    Lost(byte[] winner) {
      this.winner = winner;
    }

    /** The bytes of the entry that won. */
    byte[] winner() {
      return winner;
    }
  }

  /** The number was taken and is free again: it was deleted, so whoever wanted it is far behind. */
  record Behind() implements Outcome {}

  private final ObjectStore store;
  private final LogFiles files;

  EntryWrite(ObjectStore store, LogFiles files) {
    this.store = store;
    this.files = files;
  }

  /**
   * Writes the entry.
   *
   * @throws IllegalArgumentException when its bytes could not be read back as what it is: written,
   *     it would close the shard to everybody
   * @throws StoreException when the tries are used up; indeterminate if any of them may have taken
   *     effect
   */
  Outcome write(LogEntry entry) throws IOException {
    String key = LogFiles.entryKey(entry.seqno());
    byte[] bytes = readableBytes(entry, key);
    StoreException failure = null;
    boolean doubt = false;
    for (int tried = 1; ; tried++) {
      boolean existed = false;
      try {
        if (store.putIfAbsent(key, bytes) == Created.YES) {
          return new Won();
        }
        existed = true;
        doubt = true;
      } catch (StoreException e) {
        failure = e;
        doubt |= e.indeterminate();
        if (!doubt && !e.retryable()) {
          throw e;
        }
      }
      Optional<byte[]> there = lookUp(key, doubt);
      if (there.isPresent()) {
        return isOurs(there.get(), entry, key) ? new Won() : new Lost(there.get());
      }
      if (existed) {
        return new Behind();
      }
      if (failure != null && (tried == LogFiles.TRIES || !failure.retryable())) {
        throw unknown(failure, doubt, entry.seqno(), tried);
      }
      files.backOff(tried);
    }
  }

  private byte[] readableBytes(LogEntry entry, String key) {
    byte[] bytes = LogCodec.encode(entry);
    LogEntry read;
    try {
      read = LogCodec.decode(bytes, key);
    } catch (LogFormatException e) {
      throw new IllegalArgumentException(
          store.location() + ": '" + entry.command() + "' can't be written: " + e.getMessage(), e);
    }
    if (!read.equals(entry)) {
      throw new IllegalArgumentException(
          store.location() + ": '" + entry.command() + "' would be read as something else: " + key);
    }
    return bytes;
  }

  private Optional<byte[]> lookUp(String key, boolean doubt) throws IOException {
    try {
      return files.get(key);
    } catch (StoreException e) {
      throw new StoreException(
          e.reason(), doubt, "nobody can tell whether " + key + " is ours: " + e.getMessage(), e);
    }
  }

  private static boolean isOurs(byte[] bytes, LogEntry entry, String key) {
    try {
      return LogCodec.decode(bytes, key).nonce().equals(entry.nonce());
    } catch (LogFormatException e) {
      return false; // ours can be read; whoever takes the winner's bytes meets the same fault
    }
  }

  private StoreException unknown(StoreException failure, boolean doubt, SeqNo seqno, int tried) {
    return new StoreException(
        failure.reason(),
        doubt,
        store.location()
            + ": version "
            + seqno
            + " was tried "
            + tried
            + " times: "
            + failure.getMessage()
            + (doubt ? "; it may have been written" : "; it was not written"),
        failure);
  }
}
