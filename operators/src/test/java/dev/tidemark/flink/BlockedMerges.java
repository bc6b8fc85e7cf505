package dev.tidemark.flink;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.concurrent.CountDownLatch;

/** A store that lets no merge upload anything until it is told to; all else goes on. */
final class BlockedMerges extends ForwardingStore {
  private final CountDownLatch open = new CountDownLatch(1);

  BlockedMerges(ObjectStore store) {
    super(store);
  }

  void unblock() {
    open.countDown();
  }

  boolean isBlocked() {
    return open.getCount() > 0;
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    if (Thread.currentThread().getName().startsWith("tidemark-merge")) {
      try {
        open.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreException(
            StoreException.Reason.UNAVAILABLE, false, "the test's task was stopped", e);
      }
    }
    super.put(key, body);
  }
}
