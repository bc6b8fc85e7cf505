package dev.tidemark.flink;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of an operator: it waits for a store in them, never touches state or output. */
public final class Workers {
  /** How long a task that ends waits for its threads; requests are cut off by then. */
  private static final long STOP_SECONDS = 5;

  /** What waits for the store at the same time: as many as have connections to it. */
  public static final int MOST_REQUESTS = 64;

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
   * Does some work side by side in threads of its own, and waits for all of it.
   *
   * @return what came of it, in order
   * @throws Exception what the first that failed failed by
   */
  public static <T> List<T> sideBySide(String name, List<Callable<T>> work) throws Exception {
    if (work.isEmpty()) {
      return List.of();
    }
    ExecutorService pool = pool(name, Math.min(MOST_REQUESTS, work.size()));
    try {
      return sideBySide(pool, work);
    } finally {
      pool.shutdownNow();
    }
  }

  /** The same in threads that are there. */
  public static <T> List<T> sideBySide(ExecutorService pool, List<Callable<T>> work)
      throws Exception {
    List<T> results = new ArrayList<>();
    for (Future<T> future : pool.invokeAll(work)) {
      try {
        results.add(future.get());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Exception cause) {
          throw cause;
        }
        throw e;
      }
    }
    return results;
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
