package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With commit = checkpoint too, a request that hangs holds up its own shard only. */
@Timeout(60)
final class StuckShardTest {
  private static final long MIN = Long.MIN_VALUE;

  private final TestShards shards = new TestShards();
  private final ShardTarget a = shards.shard("a");
  private final ShardTarget b = shards.shard("b");
  private final SlotKeys slots = new SlotKeys(2, 1, AppendHarness.KEY_GROUPS);
  private final GatedStore gate = new GatedStore(shards.store);
  private AppendHarness append;

  @BeforeEach
  void start() throws Exception {
    Stores.putMemory(shards.store, gate);
    start(null);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    var settings = TestShards.settings(1, 1 << 20, 4 << 10, 256L << 20, Duration.ofSeconds(4));
    append = AppendHarness.start(List.of(a, b), settings, slots, state, 1, 0);
  }

  @AfterEach
  void stop() {
    gate.open();
    append.close();
  }

  private Update row(int shard, long id, long time) {
    return TestShards.row(slots, shard, id, "x", time, 1);
  }

  private OperatorSubtaskState commit(long checkpoint, Update... rows) throws Exception {
    long lower = checkpoint == 1 ? MIN : checkpoint * 100 - 100;
    append.add(TestBatches.inline(lower, checkpoint * 100, rows));
    append.processWatermark(checkpoint * 100 - 1);
    OperatorSubtaskState state = append.snapshot(checkpoint, 0);
    append.notifyOfCompletedCheckpoint(checkpoint);
    return state;
  }

  @Test
  void theNotificationGoesOnWithoutTheShardThatIsStuck() throws Exception {
    gate.close("a");
    commit(1, row(0, 1, 50), row(1, 1, 50));
    assertThat(append.out()).containsExactly("b 100 1");
    OperatorSubtaskState state = commit(2, row(0, 2, 150), row(1, 2, 150));
    assertThat(append.out()).containsExactly("b 200 1");
    assertThat(TestShards.state(a).upper()).isEqualTo(Frontier.MINIMUM);
    gate.open();
    append.settle();
    assertThat(append.out()).containsExactly("a 100 1", "W 99", "a 200 1", "W 199");
    append.close();
    start(state);
    assertThat(TestShards.updates(a)).containsExactly("1 x @50 +1", "2 x @150 +1");
    assertThat(TestShards.updates(b)).containsExactly("1 x @50 +1", "2 x @150 +1");
  }
}
