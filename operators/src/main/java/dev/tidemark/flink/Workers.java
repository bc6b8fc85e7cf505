package dev.tidemark.flink;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of an operator: it waits for a store in them, never touches state or output. */
public final class Workers {
  /** How long a task that ends waits for its threads; requests are cut off by then. */
  private static final long STOP_SECONDS = 5;

  private static final Logger LOG = LoggerFactory.getLogger(Workers.class);

  private Workers() {}

  /** A pool of daemon threads. */
  public static ExecutorService pool(String name, int threads) {
    AtomicInteger number = new AtomicInteger();
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return Executors.newFixedThreadPool(
        threads,
        work -> {
          Thread thread = new Thread(work, name + "-" + number.incrementAndGet());
          thread.setDaemon(true);
          thread.setContextClassLoader(loader);
          return thread;
        });
  }

  /**
   * Interrupts the threads and waits for them a little. Threads that a request still holds are left
   * behind with a warning: they are daemons, and what they finish is an orphan.
   */
  public static void stop(@Nullable ExecutorService pool) {
    if (pool != null) {
      stop(List.of(pool));
    }
  }

  /** Stops several pools, with one wait for all of them. */
  public static void stop(List<ExecutorService> pools) {
    pools.forEach(ExecutorService::shutdownNow);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
    try {
      for (ExecutorService pool : pools) {
        if (!pool.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          LOG.warn("{} did not stop within {} s: a request is still under way", pool, STOP_SECONDS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
