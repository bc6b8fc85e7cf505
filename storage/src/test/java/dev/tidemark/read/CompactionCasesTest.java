package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.gc.GcWorld;
import dev.tidemark.gc.GcWorld.VirtualTime;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What merges must not lose, and what every load must agree on. */
class CompactionCasesTest {
  private static final SpineSpec SPEC = new SpineSpec(2, 16, 4, 1 << 20, 2.0, true);

  private final VirtualTime time = new VirtualTime();
  private final MemoryStore bucket = new MemoryStore("cases", time::storeNow);

  private boolean loseAnswer;
  private final ForwardingStore losing =
      new ForwardingStore(bucket) {
        @Override
        public Created putIfAbsent(String key, byte[] body) throws StoreException {
          Created created = super.putIfAbsent(key, body);
          if (loseAnswer && key.startsWith("log/0")) {
            loseAnswer = false;
            throw new StoreException(StoreException.Reason.OTHER, true, "answer lost", null);
          }
          return created;
        }
      };

  private final TestShard shard =
      new TestShard(new ShardLog(losing, time, GcWorld.SHORT), SPEC, 1 << 20);

  CompactionCasesTest() throws Exception {}

  private ShardState cold() throws Exception {
    return new ShardLog(bucket, time, GcWorld.SHORT).refresh();
  }

  private Map<Long, Long> contents(long asOf) throws Exception {
    ShardLog log = new ShardLog(bucket, time, GcWorld.SHORT);
    return GcWorld.sum(shard.drain(new ShardReader(log).snapshot(log.refresh(), asOf)));
  }

  @Test
  @DisplayName("P-CP-01: a merge whose answer was lost is installed, and its parts are all there")
  void aMergeWhoseAnswerWasLost() throws Exception {
    for (int i = 0; i < 4; i++) {
      shard.append(10 * (i + 1), new Update(i, "v", 10 * i + 1, 1));
    }
    int versions = (int) cold().seqno().value();
    loseAnswer = true;
    assertThat(shard.compactOnce()).isTrue();
    assertThat(loseAnswer).isFalse();
    assertThat(shard.compactOnce()).as("another merge lands").isTrue();
    assertThat(cold().seqno().value()).isEqualTo(versions + 2);
    assertThat(contents(39)).isEqualTo(Map.of(0L, 1L, 1L, 1L, 2L, 1L, 3L, 1L));
    assertThat(new Verifier(new ShardLog(bucket, time, GcWorld.SHORT)).verify(true).findings())
        .isEmpty();
  }

  @Test
  @DisplayName("P-CP-03: a deletion is kept until it meets its insertion in one merge")
  void aDeletionIsKeptUntilItMeetsItsInsertion() throws Exception {
    shard.append(10, new Update(1, "v", 1, 1));
    shard.append(20, new Update(2, "v", 11, 1));
    assertThat(shard.compactOnce()).isTrue();
    assertThat(shard.state().batches().get(0).level()).isEqualTo(1);
    shard.append(30, new Update(1, "v", 21, -1));
    shard.append(40, new Update(3, "v", 31, 1));
    shard.commit(new Command.DowngradeSince(Frontier.of(39)));
    do {
      assertThat(contents(39)).isEqualTo(Map.of(2L, 1L, 3L, 1L));
    } while (shard.compactOnce());
    assertThat(shard.state().batches()).hasSize(1);
    assertThat(shard.state().batches().get(0).rows()).isEqualTo(2);
  }

  @Test
  @DisplayName("P-CP-05, persist 52: every load gives the same batches, from whichever rollup")
  void everyLoadGivesTheSameBatches() throws Exception {
    shard.append(1);
    shard.append(2, new Update(1, "v", 1, 1));
    shard.append(3, new Update(2, "v", 2, 1));
    shard.append(9);
    while (shard.compactOnce()) {
      assertThat(shard.state().batches()).isNotEmpty();
    }
    shard.append(10, new Update(3, "v", 9, 1));
    shard.append(11, new Update(4, "v", 10, 1));
    checkEveryLoad();
    shard.append(12, new Update(5, "v", 11, 1));
  }

  @Test
  @DisplayName(
      "P-PF-05: a damaged or missing rollup makes an older one do; a whole one saves the log")
  void anOlderRollupDoes() throws Exception {
    for (int i = 0; i < 40; i++) {
      shard.append(i + 1, new Update(i, "v", i, 1));
      shard.compactOnce();
    }
    long before = bucket.requests().gets();
    cold();
    assertThat(bucket.requests().gets() - before).as("entries since the rollup").isLessThan(10);
    checkEveryLoad();
  }

  @Test
  @DisplayName("persist 45: a merge brings times forward to since and consolidates there")
  void aMergeBringsTimesForward() throws Exception {
    shard.append(1, new Update(1, "a", 0, 1));
    shard.append(4, new Update(1, "a", 3, 1));
    shard.append(8);
    shard.commit(new Command.DowngradeSince(Frontier.of(6)));
    while (shard.compactOnce()) {
      assertThat(shard.state().batches()).isNotEmpty();
    }
    assertThat(shard.state().batches().get(0).rows()).isEqualTo(1);
    ShardLog log = new ShardLog(bucket, time, GcWorld.SHORT);
    assertThat(shard.drain(new ShardReader(log).snapshot(log.refresh(), 6)))
        .containsExactly(new Update(1, "a", 6, 2));
  }

  @Test
  @DisplayName("P-PF-01, persist 54: thousands of tiny batches, merges off, then on")
  void thousandsOfTinyBatches() throws Exception {
    MemoryStore store = new MemoryStore("tiny", time::storeNow);
    SpineSpec off = new SpineSpec(8, 3000, 24, 1 << 20, 2.0, false);
    TestShard tiny = new TestShard(new ShardLog(store, time), off, 1 << 20);
    for (int i = 0; i < 2000; i++) {
      appendTiny(tiny, i);
    }
    assertThat(tiny.state().batches()).hasSizeBetween(1500, 2000);
    int early = store.get(String.format("log/%020d.json", 105)).orElseThrow().length;
    int late = store.get(String.format("log/%020d.json", 1989)).orElseThrow().length;
    assertThat(late).as("bytes of a late entry").isLessThan(early + 64);
    checkOpening(store, tiny);
    tiny.commit(new Command.AlterSpec(null, null, null, null, null, true));
    while (tiny.compactOnce()) {
      assertThat(tiny.state().batches()).isNotEmpty();
    }
    assertThat(tiny.state().batches().size()).as("all by itself").isLessThan(24);
    for (int i = 2000; i < 2500; i++) {
      appendTiny(tiny, i);
      while (tiny.compactOnce()) {
        assertThat(tiny.state().batches().size()).isLessThan(40);
      }
    }
    checkOpening(store, tiny);
    ShardLog log = new ShardLog(store, time);
    assertThat(tiny.drain(new ShardReader(log).snapshot(log.refresh(), 2499)))
        .hasSize(2500 / 4 * 6);
  }

  /** Appends as many rows as the number has left over by 4. */
  private static void appendTiny(TestShard tiny, int number) throws Exception {
    List<Update> rows = new ArrayList<>();
    for (int i = 0; i < number % 4; i++) {
      rows.add(new Update(number * 4L + i, "v", number, 1));
    }
    List<List<Part>> runs = rows.isEmpty() ? List.of() : List.of(tiny.inlineRun(rows));
    tiny.append(tiny.batch(number + 1, runs, List.of(), false));
  }

  private void checkOpening(MemoryStore store, TestShard tiny) throws Exception {
    long before = store.requests().gets();
    assertThat(new ShardLog(store, time).refresh()).isEqualTo(tiny.state());
    assertThat(store.requests().gets() - before).as("objects read to open").isLessThan(64 + 8);
  }

  /** Damages, then takes away rollup after rollup, newest first. */
  private void checkEveryLoad() throws Exception {
    ShardState state = cold();
    List<String> rollups =
        bucket.list("rollup/", "", Integer.MAX_VALUE).stream().map(ObjectInfo::key).toList();
    assertThat(rollups).isNotEmpty();
    for (int i = rollups.size() - 1; i >= 0; i--) {
      bucket.put(rollups.get(i), Body.of(new byte[] {'{'}));
      assertThat(cold()).isEqualTo(state);
      bucket.delete(List.of(rollups.get(i)));
      assertThat(cold()).isEqualTo(state);
    }
  }
}
