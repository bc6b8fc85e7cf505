package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.CommitMode;
import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Appends to many shards of one subtask wait for the store together. */
@Timeout(120)
final class ManyShardsTest {
  private static final Logger LOG = LoggerFactory.getLogger(ManyShardsTest.class);
  private static final int SHARDS = 500;

  /** What a request takes. */
  private static final long REQUEST_MILLIS = 100;

  /** Within which a tick of all shards is to be durable: as many requests one after another. */
  private static final long MOST_ROUNDS = 3_000 / REQUEST_MILLIS;

  /** A store that takes its time. */
  private static final class SlowStore extends ForwardingStore {
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile long millis;

    SlowStore(String name) {
      super(new MemoryStore(name));
    }

    private void request() {
      if (millis == 0) {
        return;
      }
      requests.incrementAndGet();
      most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
      try {
        TimeUnit.MILLISECONDS.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        underWay.decrementAndGet();
      }
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      request();
      return super.putIfAbsent(key, body);
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      request();
      return super.get(key);
    }

    @Override
    public List<ObjectInfo> list(String prefix, String startAfter, int limit)
        throws StoreException {
      request();
      return super.list(prefix, startAfter, limit);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTickCommitsAllShardsInAFewRoundsOfRequests(CommitMode mode) throws Exception {
    TestShards shards = new TestShards();
    SlowStore store = new SlowStore(shards.store);
    Stores.putMemory(shards.store, store);
    List<ShardTarget> targets = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      targets.add(shards.shard("s" + i));
    }
    SlotKeys slots = new SlotKeys(SHARDS, 1, AppendHarness.KEY_GROUPS);
    SinkSettings settings = TestShards.settings(1, 1 << 20, 4 << 10);
    if (mode == CommitMode.FRONTIER) {
      settings = settings.withCommit(CommitSettings.frontier(Duration.ofSeconds(1), LateRows.FAIL));
    }
    try (AppendHarness append = AppendHarness.start(targets, settings, slots, null)) {
      for (int shard = 0; shard < SHARDS; shard++) {
        append.add(
            TestBatches.inline(
                Long.MIN_VALUE, 100, TestShards.row(slots, shard, shard, "x", 50, 1)));
      }
      store.millis = REQUEST_MILLIS;
      long begin = System.nanoTime();
      append.processWatermark(99);
      if (mode == CommitMode.CHECKPOINT) {
        append.snapshot(1, 0);
        append.notifyOfCompletedCheckpoint(1);
      }
      append.settle();
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      store.millis = 0;
      for (ShardTarget target : targets) {
        assertThat(TestShards.state(target).upper()).isEqualTo(Frontier.of(100));
      }
      int rounds = (store.requests.get() + store.most.get() - 1) / store.most.get();
      LOG.warn( // so that its figures are told
          "{}: {} requests, {} at the same time, in {} ms",
          mode,
          store.requests,
          store.most,
          millis);
      assertThat(rounds).as("rounds of requests").isLessThanOrEqualTo((int) MOST_ROUNDS);
      assertThat(millis).as("generously").isLessThan(30_000);
    }
  }
}
