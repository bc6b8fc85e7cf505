package dev.tidemark.flink.merge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.Update;
import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.Command;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class MergeOperatorTest {
  private final TestShards shards = new TestShards(new SpineSpec(8, 64, 64, 1 << 20, 2.0, true));
  private final ShardTarget shard = shards.shard("a");
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private Merge merge;
  private Faults store;

  /** The subtask. */
  private static final class Merge
      extends OneInputStreamOperatorTestHarness<MergeTask, MergedChunk> {
    Merge(ShardTarget shard) throws Exception {
      super(
          new MergeOperator(new MergeOptions(List.of(shard), TestShards.settings(1, 1 << 20, 64))));
      setup(MergedChunk.Serializer.INSTANCE);
      MergeOperator merge = (MergeOperator) operator;
      merge.setMailboxExecutor(
          new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
    }

    @Override
    public void close() {
      try {
        operator.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    void runMail() throws Exception {
      getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    }
  }

  /** Fails uploads while any are left to fail; keeps readers of some parts waiting. */
  private static final class Faults extends ForwardingStore {
    final AtomicInteger left = new AtomicInteger();
    volatile boolean corrupt;
    volatile boolean outOfMemory;
    private final Set<String> held = new HashSet<>();

    Faults(ObjectStore store) {
      super(store);
    }

    synchronized void hold(String part) {
      held.add(part);
    }

    synchronized void release(String part) {
      held.remove(part);
      notifyAll();
    }

    private synchronized void waitWhileHeld(String key) throws StoreException {
      try {
        while (held.stream().anyMatch(key::endsWith)) {
          wait();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreException(StoreException.Reason.UNAVAILABLE, false, "stopped", e);
      }
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      waitWhileHeld(key);
      if (outOfMemory && key.contains("part/")) {
        throw new OutOfMemoryError("injected by the test");
      }
      Optional<byte[]> bytes = super.get(key);
      if (corrupt && key.contains("part/")) {
        return bytes.map(good -> new byte[good.length]);
      }
      return bytes;
    }

    @Override
    public void put(String key, Body body) throws StoreException {
      if (left.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        throw new StoreException(
            StoreException.Reason.UNAVAILABLE, false, "injected by the test", null);
      }
      super.put(key, body);
    }
  }

  @BeforeEach
  void fill() throws Exception {
    for (int i = 0; i < 3; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i == 0 ? Long.MIN_VALUE : i * 100L, i * 100L + 100, row);
    }
    store = new Faults(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    merge = new Merge(shard);
    if (state == null) {
      merge.initializeEmptyState();
    } else {
      merge.initializeState(state);
    }
    merge.open();
  }

  @AfterEach
  void stop() {
    merge.close();
  }

  private MergeTask task() throws Exception {
    List<String> inputs = TestShards.state(shard).batches().stream().map(Batch::id).toList();
    return task(inputs, Frontier.MINIMUM);
  }

  private static MergeTask task(List<String> inputs, Frontier since) {
    return MergeTask.plan(0, 0, inputs, since, 100, 1, List.of(KeyRange.ALL)).get(0);
  }

  private void assertMerged() {
    List<MergedChunk> chunks = merge.extractOutputValues();
    assertThat(chunks).hasSize(1);
    assertThat(chunks.get(0).batch().rows()).isEqualTo(3);
  }

  @Test
  void merges() throws Exception {
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    assertMerged();
  }

  /** Rows with key 1 and those after it: encoded, a number's sign bit is flipped. */
  private static final String SECOND = "018000000000000001";

  @Test
  void mergesChunksInTheirOrder() throws Exception {
    List<KeyRange> ranges = List.of(new KeyRange(null, SECOND), new KeyRange(SECOND, null));
    List<String> inputs = task().inputs();
    start(null);
    for (MergeTask chunk : MergeTask.plan(0, 0, inputs, Frontier.MINIMUM, 100, 1, ranges)) {
      merge.processElement(new StreamRecord<>(chunk));
    }
    merge.runMail();
    merge.runMail();
    assertThat(merge.extractOutputValues())
        .extracting(chunk -> chunk.task().chunk() + ":" + chunk.batch().rows())
        .containsExactlyInAnyOrder("0:1", "1:2");
  }

  @Test
  void aPartThatCantBeReadFailsThePlanAtOnce() throws Exception {
    List<KeyRange> ranges = List.of(new KeyRange(null, SECOND), new KeyRange(SECOND, null));
    store.corrupt = true;
    List<String> inputs = task().inputs();
    start(null);
    for (MergeTask chunk : MergeTask.plan(0, 0, inputs, Frontier.MINIMUM, 100, 1, ranges)) {
      merge.processElement(new StreamRecord<>(chunk));
    }
    merge.runMail();
    merge.runMail();
    merge.setProcessingTime(1_000_000);
    assertThat(merge.getTaskMailbox().hasMail()).isFalse();
    assertThat(merge.extractOutputValues()).isEmpty();
    store.corrupt = false;
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    assertMerged();
  }

  @Test
  @DisplayName(
      "P-CP-06: a merge that runs out of memory isn't begun again at once, and fails no job")
  void aMergeThatRunsOutOfMemoryIsLeftToTheSpine() throws Exception {
    store.outOfMemory = true;
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    merge.setProcessingTime(1_000_000);
    assertThat(merge.getTaskMailbox().hasMail()).isFalse();
    assertThat(merge.extractOutputValues()).isEmpty();
    store.outOfMemory = false;
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    assertMerged();
  }

  @Test
  void triesAgainWhatFailed() throws Exception {
    store.left.set(2);
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    merge.setProcessingTime(1_000);
    merge.runMail();
    merge.setProcessingTime(3_000);
    merge.runMail();
    assertMerged();
  }

  @Test
  void leavesToTheSpineWhatFailsTooOften() throws Exception {
    store.left.set(100);
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    for (long seconds = 0; seconds < 5; seconds++) {
      merge.setProcessingTime(seconds * 60_000);
      merge.runMail();
    }
    merge.setProcessingTime(1_000_000);
    assertThat(merge.getTaskMailbox().hasMail()).isFalse();
    store.left.set(0);
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    assertMerged();
  }

  @Test
  void doesOnceWhatIsAskedForTwice() throws Exception {
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    merge.processElement(new StreamRecord<>(task()));
    merge.runMail();
    assertMerged();
    assertThat(merge.getTaskMailbox().hasMail()).isFalse();
  }

  @Test
  void beginsAnewAfterARestore() throws Exception {
    start(null);
    merge.processElement(new StreamRecord<>(task()));
    OperatorSubtaskState state = merge.snapshot(1, 0);
    merge.close();
    start(state);
    merge.runMail();
    assertMerged();
  }

  @Test
  @DisplayName("P-CP-04: five merges in flight at a kill are all done after the restart")
  void allThatWasInFlightIsDoneAfterARestart() throws Exception {
    for (int i = 3; i < 10; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i * 100L, i * 100L + 100, row);
    }
    List<String> ids = TestShards.state(shard).batches().stream().map(Batch::id).toList();
    store.left.set(1);
    start(null);
    for (int i = 0; i < 10; i += 2) {
      List<String> inputs = ids.subList(i, i + 2);
      merge.processElement(new StreamRecord<>(task(inputs, Frontier.MINIMUM)));
    }
    OperatorSubtaskState state = merge.snapshot(1, 0);
    merge.close();
    store.left.set(0);
    start(state);
    while (merge.extractOutputValues().size() < 5) {
      merge.runMail();
    }
    for (MergedChunk chunk : merge.extractOutputValues()) {
      List<String> inputs = chunk.task().inputs();
      Command install = new Command.InstallMerge(0, inputs, chunk.batch());
      TestShards.change(shard, install, TestShards.author("i", "2026-01-01T00:00:00Z"));
    }
    assertThat(TestShards.state(shard).batches()).hasSize(5);
    assertThat(TestShards.updates(shard)).hasSize(10);
  }

  /** Appends until there are so many batches; the key of the one part of each. */
  private List<String> fillUpTo(int batches) throws Exception {
    for (int i = 3; i < batches; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i * 100L, i * 100L + 100, row);
    }
    List<String> keys = new ArrayList<>();
    for (Batch batch : TestShards.state(shard).batches()) {
      keys.add(((PartLocation.Stored) batch.runs().get(0).get(0).location()).key());
    }
    return keys;
  }

  /** A merge of one batch, the one at {@code input}. */
  private void ask(int input, int level, long bytes) throws Exception {
    List<String> inputs = List.of(TestShards.state(shard).batches().get(input).id());
    MergeTask task =
        MergeTask.plan(0, level, inputs, Frontier.MINIMUM, bytes, 1, List.of(KeyRange.ALL)).get(0);
    merge.processElement(new StreamRecord<>(task));
  }

  /**
   * One of the two slots never gets anywhere; the other is taken while the rest is asked for, so
   * that it does them one after another, in the order that it should.
   */
  @Test
  @DisplayName("lowest level first, then the smallest merge, consolidations last")
  void theMostUrgentMergeGoesFirst() throws Exception {
    List<String> parts = fillUpTo(8);
    store.hold(parts.get(0));
    store.hold(parts.get(1));
    start(null);
    ask(0, 5, 1);
    ask(1, 5, 1);
    ask(2, MergeTask.CONSOLIDATION, 1);
    ask(3, 2, 1);
    ask(4, 0, 900);
    ask(5, 0, 10);
    ask(6, 1, 5);
    ask(7, 1, 4);
    store.release(parts.get(1));
    for (int done = 0; done < 7; done++) {
      merge.runMail();
    }
    List<String> ids = TestShards.state(shard).batches().stream().map(Batch::id).toList();
    assertThat(merge.extractOutputValues())
        .extracting(chunk -> ids.indexOf(chunk.task().inputs().get(0)))
        .containsExactly(1, 5, 4, 7, 6, 3, 2);
  }

  /**
   * Were anything of this to wait for a slot, the test would not end: nothing lets the merges go on
   * before all of it has returned.
   */
  @Test
  @DisplayName("with every slot stuck and a long queue, no element and no barrier waits")
  void nothingWaitsForAMerge() throws Exception {
    List<String> parts = fillUpTo(40);
    parts.forEach(store::hold);
    start(null);
    for (int input = 0; input < 40; input++) {
      ask(input, 0, input);
    }
    merge.processWatermark(1);
    merge.prepareSnapshotPreBarrier(1);
    OperatorSubtaskState state = merge.snapshot(1, 0);
    merge.notifyOfCompletedCheckpoint(1);
    merge.prepareSnapshotPreBarrier(2);
    assertThat(merge.snapshot(2, 0)).isNotNull();
    assertThat(merge.getTaskMailbox().hasMail()).as("anything merged").isFalse();
    merge.close();
    parts.forEach(store::release);
    start(state);
    for (int done = 0; done < 40; done++) {
      merge.runMail();
    }
    assertThat(merge.extractOutputValues())
        .as("every chunk of the snapshot is done again, once")
        .hasSize(40)
        .extracting(chunk -> chunk.task().inputs().get(0))
        .doesNotHaveDuplicates();
  }

  @Test
  void dropsAMergeWhoseInputsAreGone() throws Exception {
    start(null);
    merge.processElement(new StreamRecord<>(task(List.of("gone"), Frontier.MINIMUM)));
    merge.runMail();
    assertThat(merge.extractOutputValues()).isEmpty();
  }
}
