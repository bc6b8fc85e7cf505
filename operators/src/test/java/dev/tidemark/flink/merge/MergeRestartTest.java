package dev.tidemark.flink.merge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.Update;
import dev.tidemark.part.KeyRange;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.testing.Seeds;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Merges in several subtasks, of which other subtasks go on; and very many of which many fail. */
@Timeout(120)
final class MergeRestartTest {
  private static final int KEY_GROUPS = 16;

  private final TestShards shards =
      new TestShards(new SpineSpec(128, 256, 256, 1 << 20, 2.0, true));
  private final ShardTarget shard = shards.shard("a");
  private final SlotKeys slots = new SlotKeys(1, 1, KEY_GROUPS);

  private static final class Merge
      extends OneInputStreamOperatorTestHarness<MergeTask, MergedChunk> {
    Merge(ShardTarget shard, int subtasks, int subtask) throws Exception {
      super(
          new MergeOperator(new MergeOptions(List.of(shard), TestShards.settings(1, 1 << 20, 64))),
          KEY_GROUPS,
          subtasks,
          subtask);
      setup(MergedChunk.Serializer.INSTANCE);
      ((MergeOperator) operator)
          .setMailboxExecutor(
              new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
    }

    /** As a failing task does: without finishing. */
    @Override
    public void close() {
      try {
        operator.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    int unfinished() {
      return ((MergeOperator) operator).unfinished();
    }

    void runMail() throws Exception {
      while (getTaskMailbox().hasMail()) {
        getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
      }
    }
  }

  /** Keeps merges waiting, or fails their uploads, before or after they are there. */
  private static final class Faults extends ForwardingStore {
    private RandomGenerator random = Seeds.random(0);
    private int percent;
    private boolean held;
    private int waiting;

    Faults(ObjectStore store) {
      super(store);
    }

    synchronized void hold(boolean now) {
      held = now;
      notifyAll();
    }

    synchronized int waiting() {
      return waiting;
    }

    synchronized void fail(int percentOfUploads, RandomGenerator by) {
      percent = percentOfUploads;
      random = by;
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      if (key.contains("part/")) {
        awaitRelease();
      }
      return super.get(key);
    }

    private synchronized void awaitRelease() throws StoreException {
      waiting++;
      try {
        while (held) {
          wait();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new StoreException(StoreException.Reason.UNAVAILABLE, false, "stopped", e);
      } finally {
        waiting--;
      }
    }

    @Override
    public void put(String key, Body body) throws StoreException {
      boolean fails;
      boolean before;
      synchronized (this) {
        fails = random.nextInt(100) < percent;
        before = random.nextBoolean();
      }
      if (!fails || !before) {
        super.put(key, body);
      }
      if (fails) {
        throw new StoreException(
            StoreException.Reason.UNAVAILABLE, true, "timed out, by the test", null);
      }
    }
  }

  /** Batches of so many rows, each a run of its own. */
  private Faults fill(int batches, int rows) throws Exception {
    for (int i = 0; i < batches; i++) {
      Update[] updates = new Update[rows];
      for (int j = 0; j < rows; j++) {
        updates[j] = TestShards.row(slots, 0, i + (long) batches * j, "x", i * 100L + 99, 1);
      }
      TestShards.append(shard, i == 0 ? Long.MIN_VALUE : i * 100L, i * 100L + 100, updates);
    }
    Faults store = new Faults(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, store);
    return store;
  }

  /** A merge of each batch by itself. */
  private List<MergeTask> tasks() throws Exception {
    List<MergeTask> tasks = new ArrayList<>();
    for (Batch batch : TestShards.state(shard).batches()) {
      tasks.addAll(
          MergeTask.plan(
              0, 0, List.of(batch.id()), Frontier.MINIMUM, 100, 1, List.of(KeyRange.ALL)));
    }
    return tasks;
  }

  /** One merge of all batches, in chunks of one row. */
  private List<MergeTask> chunks(int rows) throws Exception {
    List<KeyRange> ranges = new ArrayList<>();
    for (int id = 0; id < rows; id++) {
      ranges.add(new KeyRange(id == 0 ? null : key(id), id == rows - 1 ? null : key(id + 1)));
    }
    List<String> inputs = TestShards.state(shard).batches().stream().map(Batch::id).toList();
    return MergeTask.plan(0, 0, inputs, Frontier.MINIMUM, 100, 1, ranges);
  }

  /** An encoded number: its sign bit is flipped. */
  private static String key(long id) {
    return String.format("01%016x", id ^ Long.MIN_VALUE);
  }

  private static List<MergeTask> done(List<Merge> merges) {
    List<MergeTask> done = new ArrayList<>();
    for (Merge merge : merges) {
      merge.extractOutputValues().forEach(chunk -> done.add(chunk.task()));
    }
    return done;
  }

  @ParameterizedTest(
      name = "P-ST-02: a full queue of three subtasks is restored by {0}, and drains")
  @ValueSource(ints = {3, 1})
  void aFullQueueIsRestored(int subtasks) throws Exception {
    Faults store = fill(9, 1);
    List<MergeTask> tasks = tasks();
    store.hold(true);
    List<Merge> before = new ArrayList<>();
    for (int subtask = 0; subtask < 3; subtask++) {
      Merge merge = new Merge(shard, 3, subtask);
      merge.initializeEmptyState();
      merge.open();
      for (MergeTask task : tasks.subList(3 * subtask, 3 * subtask + 3)) {
        merge.processElement(new StreamRecord<>(task)); // two of them hang, one waits
      }
      before.add(merge);
    }
    while (store.waiting() < 6) {
      Thread.onSpinWait();
    }
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (Merge merge : before) {
      states.add(merge.snapshot(1, 0));
    }
    before.forEach(Merge::close);
    OperatorSubtaskState state =
        AbstractStreamOperatorTestHarness.repackageState(
            states.toArray(OperatorSubtaskState[]::new));
    List<Merge> after = new ArrayList<>();
    for (int subtask = 0; subtask < subtasks; subtask++) {
      Merge merge = new Merge(shard, subtasks, subtask);
      merge.initializeState(
          AbstractStreamOperatorTestHarness.repartitionOperatorState(
              state, KEY_GROUPS, 3, subtasks, subtask));
      merge.open();
      after.add(merge);
    }
    store.hold(false);
    while (done(after).size() < tasks.size()) {
      for (Merge merge : after) {
        merge.runMail();
      }
    }
    assertThat(done(after)).containsExactlyInAnyOrderElementsOf(tasks);
    after.forEach(Merge::close);
  }

  /** Each merge fails a few times, with its output uploaded or not; some fail too often. */
  @Test
  @DisplayName("P-ST-03: of a hundred merges whose requests time out each is done once, or can be")
  void timeoutsAgainstRetries() {
    Seeds.check(1, this::timeOut);
  }

  private void timeOut(RandomGenerator random) throws Exception {
    Faults store = fill(2, 50);
    store.fail(60, random);
    List<MergeTask> tasks = chunks(100);
    Merge merge = new Merge(shard, 1, 0);
    merge.initializeEmptyState();
    merge.open();
    for (MergeTask task : tasks) {
      merge.processElement(new StreamRecord<>(task));
    }
    long now = 0;
    while (merge.unfinished() > 0) {
      merge.runMail();
      merge.setProcessingTime(now += 1_000);
      Thread.yield();
    }
    List<MergeTask> done = done(List.of(merge));
    assertThat(done).as("done").doesNotHaveDuplicates();
    assertThat(done).as("not given up").hasSizeLessThan(tasks.size());
    // the spine asks again for what wasn't done, and only that is done
    store.fail(0, random);
    int left = tasks.size() - done.size();
    for (MergeTask task : tasks) {
      if (!done.contains(task)) {
        merge.processElement(new StreamRecord<>(task));
      }
    }
    while (merge.extractOutputValues().size() < done.size() + left) {
      merge.runMail();
      merge.setProcessingTime(now += 1_000);
    }
    assertThat(done(List.of(merge))).containsExactlyInAnyOrderElementsOf(tasks);
    assertThat(merge.getTaskMailbox().hasMail()).isFalse();
    merge.close();
  }
}
