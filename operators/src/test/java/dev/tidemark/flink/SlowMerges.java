package dev.tidemark.flink;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.Optional;

/**
 * A store in which merges read one part after another, each no sooner than a pause after the one
 * before; all else goes on.
 */
final class SlowMerges extends ForwardingStore {
  private volatile long pauseMillis;

  SlowMerges(ObjectStore store, long pauseMillis) {
    super(store);
    this.pauseMillis = pauseMillis;
  }

  /** From now on merges read as fast as anyone. */
  void lift() {
    pauseMillis = 0;
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    pace(key);
    return super.get(key);
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    pace(key);
    return super.getRange(key, offset, length);
  }

  private void pace(String key) throws StoreException {
    if (pauseMillis == 0
        || !key.contains("part/")
        || !Thread.currentThread().getName().startsWith("tidemark-merge")) {
      return;
    }
    synchronized (this) {
      try {
        Thread.sleep(pauseMillis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreException(
            StoreException.Reason.UNAVAILABLE, false, "the test's task was stopped", e);
      }
    }
  }
}
