package dev.tidemark.flink.spine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.flink.message.Update;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Hold;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SpineOperatorTest {
  private final TestShards shards = new TestShards(new SpineSpec(4, 7, 8, 1 << 10, 2.0, true));
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private ShardTarget shard = shards.shard("a");
  private Spine spine;

  /** The subtask. */
  private static final class Spine
      extends OneInputStreamOperatorTestHarness<ShardCommit, MergeTask> {
    Spine(ShardTarget shard) throws Exception {
      super(
          new SpineOperator(new SpineOptions(List.of(shard), TestShards.settings(1, 1 << 20, 64))));
      setup(MergeTask.Serializer.INSTANCE);
      SpineOperator spine = (SpineOperator) operator;
      spine.setMailboxExecutor(
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

    void runMailAfterTick() throws Exception {
      setProcessingTime(1_000);
      runMail();
      runMail();
    }

    /** A mail a tick: the log is read and looked at. */
    void drainMail() throws Exception {
      runMail();
    }

    List<String> changes() {
      List<String> changes = new ArrayList<>();
      var side = getSideOutput(SpineOperator.CHANGES);
      if (side != null) {
        for (StreamRecord<SpineChange> change : side) {
          changes.add(change.getValue().command().name());
        }
      }
      return changes;
    }
  }

  private void start() throws Exception {
    spine = new Spine(shard);
    spine.initializeEmptyState();
    spine.open();
  }

  @AfterEach
  void stop() {
    spine.close();
  }

  private void append(int batches) throws Exception {
    for (int i = 0; i < batches; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i == 0 ? Long.MIN_VALUE : i * 100L, i * 100L + 100, row);
    }
  }

  private StreamRecord<ShardCommit> commit(long seqno) throws Exception {
    return new StreamRecord<>(
        new ShardCommit(0, "a", new SeqNo(seqno), TestShards.state(shard).upper(), 1));
  }

  @Test
  void asksForAMergeOnceALevelIsDue() throws Exception {
    append(3);
    start();
    spine.processElement(commit(4));
    spine.runMail();
    assertThat(spine.extractOutputValues()).isEmpty();
    Update row = TestShards.row(slots, 0, 9, "x", 399, 1);
    TestShards.append(shard, 300, 400, row);
    spine.processElement(commit(5));
    spine.runMail();
    spine.runMail();
    List<MergeTask> asked = spine.extractOutputValues();
    assertThat(asked).hasSize(1);
    assertThat(asked.get(0).inputs()).hasSize(4);
    spine.processElement(commit(5));
    assertThat(spine.extractOutputValues()).as("asked for once").hasSize(1);
  }

  @Test
  @DisplayName("P-CP-04: what was asked for and lost is asked for again after a restart")
  void asksAnewAfterARestart() throws Exception {
    append(4);
    start();
    spine.processElement(commit(5));
    spine.runMail();
    spine.runMail();
    List<MergeTask> lost = spine.extractOutputValues();
    assertThat(lost).hasSize(1);
    spine.close();
    start();
    spine.setProcessingTime(1_000);
    spine.runMail();
    spine.runMail();
    assertThat(spine.extractOutputValues())
        .singleElement()
        .satisfies(task -> assertThat(task.inputs()).isEqualTo(lost.get(0).inputs()));
  }

  /** Its appends are refused, so no commit would ever have told of it. */
  @Test
  void looksAfterAFullShardWithoutACommit() throws Exception {
    append(7);
    start();
    spine.setProcessingTime(1_000);
    spine.runMail();
    spine.runMail();
    assertThat(spine.extractOutputValues()).hasSize(1);
  }

  @Test
  void movesSinceBeforeItMergesWhenNothingIsRetained() throws Exception {
    shard = shards.shard("a", Duration.ZERO);
    append(4);
    start();
    spine.processElement(commit(5));
    spine.runMail();
    assertThat(spine.changes()).containsExactly("since");
    assertThat(spine.extractOutputValues()).as("waits for since").isEmpty();
  }

  @Test
  void aSlowStoreHoldsUpNoElementAndNoBarrier() throws Exception {
    append(4);
    ShardState before = TestShards.state(shard);
    SlowStore slow = new SlowStore(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, slow);
    start();
    spine.processElement(
        new StreamRecord<>(new ShardCommit(0, "a", before.seqno(), before.upper(), 1)));
    spine.prepareSnapshotPreBarrier(1);
    assertThat(spine.snapshot(1, 0)).isNotNull();
    assertThat(spine.extractOutputValues()).isEmpty();
    slow.open.countDown();
    spine.runMail();
    spine.runMail();
    assertThat(spine.extractOutputValues()).hasSize(1);
  }

  /** The read began before the version was there, so it doesn't bring it. */
  @Test
  void missesNoCommitThatComesWhileTheLogIsRead() throws Exception {
    append(3);
    LateStore late = new LateStore(Stores.open("memory:" + shards.store, StoreSettings.DEFAULT));
    Stores.putMemory(shards.store, late);
    start();
    spine.setProcessingTime(1_000);
    late.atEnd.await();
    TestShards.append(shard, 300, 400, TestShards.row(slots, 0, 9, "x", 399, 1));
    spine.processElement(commit(5));
    late.open.countDown();
    spine.runMail();
    assertThat(spine.extractOutputValues()).isEmpty();
    spine.setProcessingTime(2_000);
    spine.runMail();
    spine.runMail();
    assertThat(spine.extractOutputValues()).hasSize(1);
  }

  @Test
  void plansNoMergePastAHold() throws Exception {
    append(4);
    TestShards.change(
        shard,
        new Command.DowngradeSince(Frontier.of(250)),
        TestShards.author("s", "2026-01-01T00:00:00.000Z"));
    ShardLog log = new ShardLog(TestShards.open(shard));
    new Holds(log)
        .create(new Hold(log.refresh().seqno(), Frontier.of(150), 900_000, "a read", "test"));
    start();
    spine.runMailAfterTick();
    assertThat(spine.extractOutputValues()).hasSize(1);
    assertThat(spine.extractOutputValues().get(0).since()).isEqualTo(Frontier.of(150));
  }

  @Test
  void asksAgainOnceNothingWasHeardForLong() throws Exception {
    append(4);
    start();
    spine.runMailAfterTick();
    MergeTask asked = spine.extractOutputValues().get(0);
    ShardHandle handle =
        ShardHandles.acquire(
            spine.getOperator().getRuntimeContext(), shard, TestShards.settings(1, 1 << 20, 64));
    handle.progress().finished(asked, 110_000);
    spine.setProcessingTime(130_000);
    spine.drainMail();
    assertThat(spine.extractOutputValues()).as("a chunk was done meanwhile").hasSize(1);
    handle.progress().forget(asked.plan());
    spine.setProcessingTime(240_000);
    spine.runMail();
    spine.runMail();
    assertThat(spine.extractOutputValues()).containsExactly(asked, asked);
    handle.close();
  }

  @Test
  void plansNothingAfterTheEndOfInput() throws Exception {
    append(4);
    start();
    spine.endInput();
    spine.setProcessingTime(10_000);
    assertThat(spine.getTaskMailbox().hasMail()).isFalse();
    assertThat(spine.extractOutputValues()).isEmpty();
  }

  /** Tells spine that the log ends only when it is told to. */
  private static final class LateStore extends ForwardingStore {
    final CountDownLatch atEnd = new CountDownLatch(1);
    final CountDownLatch open = new CountDownLatch(1);

    LateStore(ObjectStore store) {
      super(store);
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      Optional<byte[]> answer = super.get(key);
      if (answer.isEmpty() && Thread.currentThread().getName().startsWith("tidemark-spine")) {
        atEnd.countDown();
        try {
          open.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return answer;
    }
  }

  /** Answers no GET until it is told to. */
  private static final class SlowStore extends ForwardingStore {
    final CountDownLatch open = new CountDownLatch(1);

    SlowStore(ObjectStore store) {
      super(store);
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      try {
        open.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return super.get(key);
    }
  }
}
