package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a store sees of its clients while it tells all of them to slow down. */
@Timeout(60)
class SlowDownTest {
  private static final int CLIENTS = 8;
  private static final Author BY =
      new Author(new WriterAttempt("w", "2026-11-30T00:00:00Z", "1", "here"), "test");

  private final LongAdder requests = new LongAdder();
  private volatile boolean refuses;
  private volatile boolean done;

  /** Looks for news without a pause, as one does on whom others wait. */
  private @Nullable Void follow(ShardLog log) throws Exception {
    while (!done) {
      try {
        log.refresh();
      } catch (StoreException e) {
        assertThat(e.reason()).isEqualTo(StoreException.Reason.THROTTLED);
        assertThat(e.retryable()).isTrue();
      }
    }
    return null;
  }

  /** The requests in a second from now on. */
  private double rate() throws InterruptedException {
    long before = requests.sum();
    long begun = System.nanoTime();
    TimeUnit.SECONDS.sleep(1);
    return (requests.sum() - before) * 1e9 / (System.nanoTime() - begun);
  }

  @Test
  @DisplayName("P-S3-03: the rate of requests falls while a store refuses, and comes back after")
  void theRateFallsAndComesBack() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try (FaultyS3 server = new FaultyS3();
        ObjectStore store = Stores.open("s3://bucket/shard", server.settings())) {
      server.otherwise =
          (faulty, request, connection) -> {
            requests.increment();
            (refuses ? FaultyS3.error(503, "SlowDown") : FaultyS3.NONE)
                .serve(faulty, request, connection);
          };
      ShardLog writer = new ShardLog(store);
      writer.commit(new Command.Create("s", TestShard.SCHEMA, SpineSpec.DEFAULT), BY);
      List<ShardLog> logs = new ArrayList<>();
      List<Future<?>> running = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        ShardLog log = new ShardLog(store);
        log.refresh();
        logs.add(log);
        running.add(threads.submit(() -> follow(log)));
      }
      double before = rate();
      refuses = true;
      rate(); // those who tried soon after the first refusal
      double pressed = rate();
      refuses = false;
      CommitResult result = writer.commit(new Command.AlterSpec(2, 3, 4, null, null, null), BY);
      assertThat(result).isInstanceOf(CommitResult.Committed.class);
      while (!logs.stream().allMatch(log -> log.known().equals(result.state()))) {
        LockSupport.parkNanos(1_000_000); // some are still in a pause
      }
      double after = rate();
      done = true;
      for (Future<?> one : running) {
        one.get();
      }
      assertThat(pressed).as("of %s a second", before).isLessThan(before / 4);
      assertThat(after).as("of %s a second before", before).isGreaterThan(before / 4);
    } finally {
      done = true;
      threads.shutdownNow();
    }
  }
}
