package dev.tidemark.flink.append;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A store in which the writes of one shard's log can be held up, as by a request that hangs. */
final class GatedStore extends ForwardingStore {
  private volatile String closed = "";
  private volatile CountDownLatch gate = new CountDownLatch(0);
  private volatile CountDownLatch arrived = new CountDownLatch(0);

  GatedStore(String name) {
    super(new MemoryStore(name));
  }

  /** From now on writes of this shard's log wait before they reach the store. */
  void close(String shard) {
    gate = new CountDownLatch(1);
    arrived = new CountDownLatch(1);
    closed = shard + "/log/";
  }

  /** Waits until one waits. */
  void awaitArrival() throws InterruptedException {
    if (!arrived.await(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("nothing came to the gate");
    }
  }

  /** Lets them through. */
  void open() {
    closed = "";
    gate.countDown();
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    if (!closed.isEmpty() && key.contains(closed)) {
      arrived.countDown();
      try {
        gate.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreException(StoreException.Reason.UNAVAILABLE, true, "interrupted", e);
      }
    }
    return super.putIfAbsent(key, body);
  }
}
