package dev.tidemark.flink.pressure;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Threads that speak with the job master once a second. */
final class PressureThreads {
  private PressureThreads() {}

  static ScheduledExecutorService start(String name) {
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          thread.setContextClassLoader(loader);
          return thread;
        });
  }
}
