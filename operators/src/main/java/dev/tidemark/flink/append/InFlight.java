package dev.tidemark.flink.append;

import dev.tidemark.flink.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The appends under way, at most one a shard, each in a thread of its own that waits for the store.
 * What came of one is handed over in the task's thread: by a mail, or to whoever waits there for
 * it. So a shard that is slow or stuck holds up itself only.
 */
final class InFlight {
  private static final Logger LOG = LoggerFactory.getLogger(InFlight.class);

  /** What takes the results, in the task's thread. */
  @FunctionalInterface
  interface Taker {
    void take(OwnedShard shard, ShardAppend.Outcome outcome) throws Exception;
  }

  private record Result(
      OwnedShard shard, ShardAppend.@Nullable Outcome outcome, @Nullable Throwable failure) {}

  private final ExecutorService executor;
  private final MailboxExecutor mailbox;
  private final Taker taker;
  private final LinkedBlockingQueue<Result> results = new LinkedBlockingQueue<>();

  /** Since when each is under way, by {@code System.nanoTime()}. */
  private final Map<OwnedShard, Long> sinceNanos = new HashMap<>();

  InFlight(ExecutorService executor, MailboxExecutor mailbox, Taker taker) {
    this.executor = executor;
    this.mailbox = mailbox;
    this.taker = taker;
  }

  /** As many threads as shards, up to the connections that there are. */
  static ExecutorService threads(int shards) {
    return Workers.pool("tidemark-append", Math.max(1, Math.min(Workers.MOST_REQUESTS, shards)));
  }

  boolean has(OwnedShard shard) {
    return sinceNanos.containsKey(shard);
  }

  int count() {
    return sinceNanos.size();
  }

  /** Begins an append. */
  void submit(OwnedShard shard, Callable<ShardAppend.Outcome> append) {
    if (sinceNanos.putIfAbsent(shard, System.nanoTime()) != null) {
      throw new IllegalStateException("an append to the shard is under way: " + shard.index());
    }
    executor.execute(
        () -> {
          Result result;
          try {
            result = new Result(shard, append.call(), null);
          } catch (Throwable e) {
            result = new Result(shard, null, e);
          }
          results.add(result);
          try {
            mailbox.execute(this::takeAll, "appends done");
          } catch (RejectedExecutionException taskIsClosing) {
            LOG.debug("an append ended after its task; the state that goes on finds it in the log");
          }
        });
  }

  /** Hands over what is there. */
  void takeAll() throws Exception {
    for (Result result = results.poll(); result != null; result = results.poll()) {
      take(result);
    }
  }

  /**
   * Waits until nothing is under way for some shards, and hands over what came of it, in the order
   * of the shards.
   *
   * @return whether nothing is under way; false when patience is over first
   */
  boolean await(Collection<OwnedShard> shards, Duration patience) throws Exception {
    long deadline = System.nanoTime() + patience.toNanos();
    Set<OwnedShard> waiting = underWay(shards);
    while (!waiting.isEmpty()) {
      List<Result> came = new ArrayList<>();
      boolean patient = true;
      while (!waiting.isEmpty() && patient) {
        Result result = results.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        patient = result != null;
        if (result != null) {
          came.add(result);
          waiting.remove(result.shard());
        }
      }
      came.sort(Comparator.comparingInt(result -> result.shard().index()));
      for (Result result : came) {
        take(result);
      }
      if (!patient) {
        return false;
      }
      waiting = underWay(shards); // what was done may have let more begin
    }
    return true;
  }

  private Set<OwnedShard> underWay(Collection<OwnedShard> shards) {
    Set<OwnedShard> underWay = new HashSet<>(shards);
    underWay.retainAll(sinceNanos.keySet());
    return underWay;
  }

  /** For how long the append to a shard has been under way; 0: none is. */
  long millis(OwnedShard shard) {
    Long since = sinceNanos.get(shard);
    return since == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since);
  }

  private void take(Result result) throws Exception {
    sinceNanos.remove(result.shard());
    Throwable failure = result.failure();
    if (failure instanceof Exception e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
    if (result.outcome() != null) {
      taker.take(result.shard(), result.outcome());
    }
  }
}
