package dev.tidemark.flink;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The threads of an operator: it waits for a store in them, never touches state or output. */
public final class Workers {
  /** How long a task that ends waits for its threads; requests are cut off by then. */
  private static final long STOP_SECONDS = 5;

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

  /** Interrupts the threads and waits for them a little. */
  public static void stop(@Nullable ExecutorService pool) throws InterruptedException {
    if (pool != null) {
      pool.shutdownNow();
      if (!pool.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("threads did not stop within " + STOP_SECONDS + " s");
      }
    }
  }
}
