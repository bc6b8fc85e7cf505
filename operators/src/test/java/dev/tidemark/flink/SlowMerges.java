package dev.tidemark.flink;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * A store in which merges get at one part after another, each only so many ticks after the one
 * before; all else goes on. Ticks are counted by the test, as a busy machine slows all alike.
 */
final class SlowMerges extends ForwardingStore {
  private final IntSupplier ticks;
  private final int ticksAPart;
  private final Set<String> read = new HashSet<>();
  private int last;
  private volatile boolean lifted;

  SlowMerges(ObjectStore store, IntSupplier ticks, int ticksAPart) {
    super(store);
    this.ticks = ticks;
    this.ticksAPart = ticksAPart;
  }

  /** From now on merges read as fast as anyone. */
  void lift() {
    lifted = true;
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
    boolean merges = Thread.currentThread().getName().startsWith("tidemark-merge");
    if (!lifted && merges && key.contains("part/")) {
      waitForTurn(key);
    }
  }

  /** One after another: whoever waits keeps the others waiting. */
  private synchronized void waitForTurn(String key) throws StoreException {
    if (!read.add(key)) {
      return;
    }
    try {
      while (!lifted && ticks.getAsInt() < last + ticksAPart) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(
          StoreException.Reason.UNAVAILABLE, false, "the test's task was stopped", e);
    }
    last = ticks.getAsInt();
  }
}
