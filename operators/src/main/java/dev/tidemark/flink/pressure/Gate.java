package dev.tidemark.flink.pressure;

import java.util.concurrent.CompletableFuture;

/**
 * Whether readers may read. Each time it closes there is one future, which completes when it opens:
 * a reader waits on it without asking again. Thread-safe.
 */
final class Gate {
  private static final CompletableFuture<Void> OPEN = CompletableFuture.completedFuture(null);

  private volatile CompletableFuture<Void> opened = OPEN;
  private long heldNanos;
  private long closedAtNanos;

  boolean isOpen() {
    return opened == OPEN;
  }

  /** Done while it is open; else completes when it opens. */
  CompletableFuture<Void> opened() {
    return opened;
  }

  synchronized void close(long nowNanos) {
    if (opened == OPEN) {
      closedAtNanos = nowNanos;
      opened = new CompletableFuture<>();
    }
  }

  void open(long nowNanos) {
    CompletableFuture<Void> waiting;
    synchronized (this) {
      waiting = opened;
      if (waiting != OPEN) {
        heldNanos += nowNanos - closedAtNanos;
        opened = OPEN;
      }
    }
    waiting.complete(null); // what waits on it runs here, so not under the lock
  }

  /** For how long it has been closed in all. */
  synchronized long heldNanos(long nowNanos) {
    return heldNanos + (opened == OPEN ? 0 : nowNanos - closedAtNanos);
  }
}
