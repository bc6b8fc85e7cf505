package dev.tidemark.store.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.ObjectStore.Created;
import dev.tidemark.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Several writers at one key, again and again: one wins, and all agree on whom. */
final class S3Race {
  private static final int WRITERS = 8;

  private S3Race() {}

  /**
   * Races.
   *
   * @param answered whether every answer comes, so that exactly one is told yes
   */
  static void run(ObjectStore store, int rounds, boolean answered) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
    CyclicBarrier barrier = new CyclicBarrier(WRITERS);
    try {
      for (int round = 0; round < rounds; round++) {
        String key = "race/" + round;
        List<Future<Boolean>> racing = new ArrayList<>();
        for (int n = 0; n < WRITERS; n++) {
          byte[] body = ("writer " + n + " of round " + round).getBytes(UTF_8);
          racing.add(pool.submit(() -> race(barrier, store, key, body, answered)));
        }
        int winners = 0;
        for (Future<Boolean> one : racing) {
          winners += one.get() ? 1 : 0;
        }
        assertThat(winners).as(key).isEqualTo(1);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  private static boolean race(
      CyclicBarrier barrier, ObjectStore store, String key, byte[] body, boolean answered)
      throws Exception {
    barrier.await();
    Created created = null;
    while (created == null) {
      try {
        created = store.putIfAbsent(key, body);
      } catch (StoreException e) {
        assertThat(e.retryable()).as(e.getMessage()).isTrue();
      }
    }
    // Only what is there tells who won: an answer may have been lost.
    byte[] there = null;
    while (there == null) {
      try {
        there = store.get(key).orElseThrow();
      } catch (StoreException e) {
        assertThat(e.retryable()).as(e.getMessage()).isTrue();
      }
    }
    boolean won = java.util.Arrays.equals(there, body);
    assertThat(created == Created.YES && !won).as("told yes, and lost").isFalse();
    assertThat(answered && won && created != Created.YES).as("won, and not told").isFalse();
    return won;
  }
}
