package dev.tidemark.flink;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A store in which writes of log entries fail now and then, as a process does that dies: half of
 * them before the entry is there, half after.
 */
final class FailingStore extends ForwardingStore {
  private final AtomicInteger left = new AtomicInteger();
  private final AtomicInteger entries = new AtomicInteger();
  private final int every;
  private volatile long pauseMillis;

  FailingStore(ObjectStore store, int failures, int every) {
    super(store);
    this.every = every;
    left.set(failures);
  }

  /** Makes every write of an entry take this long. */
  void slow(long millis) {
    pauseMillis = millis;
  }

  int left() {
    return left.get();
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    boolean entry = key.contains("/log/") && !key.contains("closed");
    if (!entry) {
      return super.putIfAbsent(key, body);
    }
    int number = entries.incrementAndGet();
    boolean fails = number % every == 0 && left.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
    if (pauseMillis > 0) {
      pause();
    }
    if (fails && number / every % 2 == 0) {
      throw new CountedRows.InjectedFailure();
    }
    Created created = super.putIfAbsent(key, body);
    if (fails) {
      throw new CountedRows.InjectedFailure();
    }
    return created;
  }

  private void pause() {
    try {
      Thread.sleep(pauseMillis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
