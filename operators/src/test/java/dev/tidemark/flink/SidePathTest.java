package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.Update;
import dev.tidemark.log.Author;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Merges from the plan to the log, while other things happen to the shard. */
@Timeout(60)
final class SidePathTest {
  private static final Author SOMEBODY = TestShards.author("somebody", "2026-01-01T00:00:00.000Z");

  private final TestShards shards = new TestShards(new SpineSpec(4, 7, 8, 1 << 10, 2.0, true));
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private final ShardTarget shard = shards.shard("a");
  private SidePath path;

  private ObjectStore memory() {
    return Stores.open("memory:" + shards.store, StoreSettings.DEFAULT);
  }

  /** Merges are cut wherever they can be. */
  private void start() throws Exception {
    path = new SidePath(shard, TestShards.settings(1, 1 << 20, 64, 8));
  }

  @AfterEach
  void stop() throws Exception {
    path.close();
  }

  private void append(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i == 0 ? Long.MIN_VALUE : i * 100L, i * 100L + 100, row);
    }
  }

  private List<Batch> batches() throws Exception {
    return TestShards.state(shard).batches();
  }

  private void assertRows(int rows) throws Exception {
    List<String> updates = TestShards.updates(shard);
    assertThat(updates).hasSize(rows).doesNotHaveDuplicates();
    for (int i = 0; i < rows; i++) {
      assertThat(updates).contains(i + " x @" + (i * 100L + 99) + " +1");
    }
  }

  /** Has spine ask for the merge of the four first batches, and one chunk of it done. */
  private void beginMerge(BlockedMerges store) throws Exception {
    path.pass(1_000);
    path.await(() -> !path.asked().isEmpty());
    assertThat(path.asked()).as("chunks").hasSizeGreaterThan(2);
    assertThat(path.asked().get(0).inputs()).hasSize(4);
    store.allow(1);
    path.await(() -> store.uploaded().size() == 1 && store.waiting() == 2);
  }

  @Test
  void anEmptyBatchMeanwhileMovesTheUpperOfWhatIsInstalled() throws Exception {
    append(0, 4);
    BlockedMerges store = new BlockedMerges(memory());
    Stores.putMemory(shards.store, store);
    start();
    beginMerge(store);
    TestShards.appendNothing(shard, 400, 500);
    TestShards.change(shard, new Command.DowngradeSince(Frontier.of(50)), SOMEBODY);
    assertThat(batches()).as("it only makes the last one longer").hasSize(4);
    store.unblock();
    path.await(() -> batches().size() == 1);
    Batch merged = batches().get(0);
    assertThat(merged.bounds()).isEqualTo(new BatchDescription(Frontier.MINIMUM, Frontier.of(500)));
    assertThat(merged.level()).isEqualTo(1);
    assertRows(4);
  }

  /**
   * A merge is under way while fan-in and queue shrink and merging is switched off: it is installed
   * and nothing else is begun. Switched on again, the shard, full by now, goes on by itself: its
   * appends are refused, so no commit would tell of it.
   */
  @Test
  void anotherSpecMeanwhileStopsNoMergeAndCountsForTheNext() throws Exception {
    append(0, 4);
    BlockedMerges store = new BlockedMerges(memory());
    Stores.putMemory(shards.store, store);
    start();
    beginMerge(store);
    TestShards.change(shard, new Command.AlterSpec(2, 3, 4, null, null, false), SOMEBODY);
    store.unblock();
    path.await(() -> batches().size() == 1);
    assertRows(4);
    append(4, 7);
    int asked = path.asked().size();
    path.committed(TestShards.state(shard));
    path.look();
    assertThat(path.asked()).as("merging is off").hasSize(asked);
    assertThatThrownBy(() -> append(7, 8))
        .as("the queue is the new one")
        .hasMessageContaining("SpineFull");
    Command on = new Command.AlterSpec(null, null, null, null, null, true);
    TestShards.change(shard, on, SOMEBODY);
    settle();
    append(7, 9);
    path.committed(TestShards.state(shard));
    settle();
    assertRows(9);
    List<MergeTask> later = path.asked().subList(asked, path.asked().size());
    assertThat(later).isNotEmpty().allSatisfy(task -> assertThat(task.inputs()).hasSize(2));
  }

  /** Lets the side path go on until the shard wants nothing more. */
  private void settle() throws Exception {
    path.await(
        () -> {
          path.pass(200);
          ShardState state = TestShards.state(shard);
          return SpinePlanner.plan(
                  state.spec(), state.batches(), state.since(), state.consolidating(), Set.of())
              .isEmpty();
        });
  }

  /** Spine asks again after two minutes, then after four: nothing throws, and nothing spins. */
  @Test
  void aPartThatCantBeReadIsTriedAgainAfterLongerEachTime() throws Exception {
    append(0, 4);
    Corrupt store = new Corrupt(memory());
    Stores.putMemory(shards.store, store);
    path = new SidePath(shard, TestShards.settings(1, 1 << 20, 64));
    path.pass(1_000);
    path.await(() -> path.failures() == 1);
    path.pass(100_000);
    path.look();
    assertThat(path.asked()).hasSize(1);
    path.pass(20_000);
    path.await(() -> path.failures() == 2);
    path.pass(200_000);
    path.look();
    assertThat(path.asked()).hasSize(2);
    store.healed = true;
    path.pass(40_000);
    path.await(() -> batches().size() == 1);
    assertThat(path.asked()).hasSize(3);
    assertRows(4);
  }

  /** Gives parts of zeros until it is healed. */
  private static final class Corrupt extends ForwardingStore {
    volatile boolean healed;

    Corrupt(ObjectStore store) {
      super(store);
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      Optional<byte[]> bytes = super.get(key);
      return healed || !key.contains("part/") ? bytes : bytes.map(good -> new byte[good.length]);
    }

    @Override
    public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
      Optional<byte[]> bytes = super.getRange(key, offset, length);
      return healed ? bytes : bytes.map(good -> new byte[good.length]);
    }
  }
}
