package dev.tidemark.flink;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A store that holds merges up until it is told to let them go on; all else goes on. */
public final class BlockedMerges extends ForwardingStore {
  /** What merges are held up at. */
  public enum At {
    /** Before they have read anything. */
    READS,
    /** Before they have uploaded anything. */
    UPLOADS
  }

  private final At at;
  private final Semaphore free = new Semaphore(0);
  private final AtomicInteger waiting = new AtomicInteger();
  private final List<String> uploaded = new CopyOnWriteArrayList<>();
  private volatile boolean open;

  /** Holds up uploads. */
  public BlockedMerges(ObjectStore store) {
    this(store, At.UPLOADS);
  }

  /** Holds up such requests of merges. */
  public BlockedMerges(ObjectStore store, At at) {
    super(store);
    this.at = at;
  }

  /** Lets everything go on from now on. */
  public void unblock() {
    open = true;
    free.release(1 << 20);
  }

  /** Lets so many requests more go on. */
  public void allow(int requests) {
    free.release(requests);
  }

  /** Whether it still holds merges up. */
  public boolean isBlocked() {
    return !open;
  }

  /** The requests that are held up now. */
  public int waiting() {
    return waiting.get();
  }

  /** The keys of what merges have uploaded. */
  public List<String> uploaded() {
    return uploaded;
  }

  private static boolean isMerge() {
    return Thread.currentThread().getName().startsWith("tidemark-merge");
  }

  private void pass(At here) throws StoreException {
    if (open || here != at || !isMerge()) {
      return;
    }
    waiting.incrementAndGet();
    try {
      free.acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException(
          StoreException.Reason.UNAVAILABLE, false, "the test's task was stopped", e);
    } finally {
      waiting.decrementAndGet();
    }
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    if (key.contains("part/")) {
      pass(At.READS);
    }
    return super.get(key);
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    pass(At.READS);
    return super.getRange(key, offset, length);
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    pass(At.UPLOADS);
    super.put(key, body);
    if (isMerge()) {
      uploaded.add(key);
    }
  }
}
