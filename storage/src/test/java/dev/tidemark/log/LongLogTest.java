package dev.tidemark.log;

import static dev.tidemark.log.LogFixture.author;
import static dev.tidemark.log.LogFixture.empty;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.LogFixture.TestPacing;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.Body;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.time.Frontier;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LongLogTest {
  private static final int VERSIONS = 10_000;

  private final MemoryStore store = new MemoryStore("long");

  /** Opens with the rollups as they are; how many objects that read. */
  private long open(ShardState expected) throws Exception {
    long before = store.requests().gets();
    assertThat(new ShardLog(store, new TestPacing(2)).refresh()).isEqualTo(expected);
    return store.requests().gets() - before;
  }

  @Test
  @DisplayName("P-PF-05: opening a long log costs what lies behind the newest whole rollup")
  void openingCostsWhatLiesBehindTheRollup() throws Exception {
    ShardLog log = new ShardLog(store, new TestPacing(1));
    log.commit(LogFixture.create("shard-1"), author("a"));
    for (long upper = 1; upper < VERSIONS; upper++) {
      Frontier lower = upper == 1 ? Frontier.MINIMUM : Frontier.of(upper - 1);
      log.commit(LogFixture.append("a", empty("e" + upper, lower, upper)), author("a"));
    }
    ShardState state = log.known();
    assertThat(state.seqno().value()).isEqualTo(VERSIONS);
    long rollup = LogIntervals.FORMAT.rollup();
    List<String> rollups =
        store.list("rollup/", "", Integer.MAX_VALUE).stream().map(ObjectInfo::key).toList();
    assertThat(rollups).hasSize(Math.toIntExact(VERSIONS / rollup));
    assertThat(open(state)).isLessThan(rollup + 8);
    for (int damaged = 1; damaged <= 4; damaged++) {
      store.put(rollups.get(rollups.size() - damaged), Body.of(new byte[] {'{'}));
      assertThat(open(state)).isLessThan((damaged + 1) * (rollup + 8));
    }
    store.delete(rollups);
    assertThat(open(state)).as("the whole log").isBetween((long) VERSIONS, VERSIONS + 100L);
  }
}
