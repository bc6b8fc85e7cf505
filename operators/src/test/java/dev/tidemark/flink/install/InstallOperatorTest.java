package dev.tidemark.flink.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.flink.message.Update;
import dev.tidemark.log.Author;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.VoidSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.TwoInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Merges are installed whole: once, when all of their chunks are there. */
@Timeout(60)
final class InstallOperatorTest {
  /** Key 2: encoded, a number's sign bit is flipped. */
  private static final String THIRD = "018000000000000002";

  private static final List<KeyRange> RANGES =
      List.of(new KeyRange(null, THIRD), new KeyRange(THIRD, null));

  private static final Author SOMEBODY = TestShards.author("somebody", "2026-01-01T00:00:00.000Z");

  private final TestShards shards = new TestShards(new SpineSpec(4, 7, 8, 1 << 10, 2.0, true));
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private final ShardTarget shard = shards.shard("a");
  private Install install;

  private static final class Install
      extends TwoInputStreamOperatorTestHarness<SpineChange, MergedChunk, Void> {
    Install(ShardTarget shard) throws Exception {
      super(
          new InstallOperator(
              new InstallOptions(List.of(shard), TestShards.settings(1, 1 << 20, 64))));
      setup(VoidSerializer.INSTANCE);
      InstallOperator install = (InstallOperator) operator;
      install.setMailboxExecutor(
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

    /**
     * Runs what a merge that was committed, or not, has to say: the counting, and that it's over.
     */
    void runMails(int mails) throws Exception {
      for (int i = 0; i < mails; i++) {
        getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
      }
    }
  }

  @BeforeEach
  void fill() throws Exception {
    for (int i = 0; i < 4; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i == 0 ? Long.MIN_VALUE : i * 100L, i * 100L + 100, row);
    }
    start(null);
  }

  private void start(OperatorSubtaskState state) throws Exception {
    install = new Install(shard);
    if (state == null) {
      install.initializeEmptyState();
    } else {
      install.initializeState(state);
    }
    install.open();
  }

  @AfterEach
  void stop() {
    install.close();
  }

  /** The merged chunks of a plan over all batches. */
  private List<MergedChunk> chunks(List<KeyRange> ranges) throws Exception {
    return chunks(ids(), ranges);
  }

  private List<MergedChunk> chunks(List<String> inputs, List<KeyRange> ranges) throws Exception {
    ShardState state = TestShards.state(shard);
    RunMerger merger = new RunMerger(TestShards.parts(shard), 1 << 20);
    List<MergedChunk> chunks = new ArrayList<>();
    for (MergeTask task : MergeTask.plan(0, 0, inputs, Frontier.MINIMUM, 100, 1, ranges)) {
      RunMerger.Chunk chunk = new RunMerger.Chunk(task.range(), 1, task.chunk() == 0);
      Batch batch =
          merger.merge(state, inputs, task.since(), ShardHandle.newId(), chunk).orElseThrow();
      chunks.add(new MergedChunk(task, batch));
    }
    return chunks;
  }

  private void take(MergedChunk chunk) throws Exception {
    install.processElement2(new StreamRecord<>(chunk));
  }

  private void assertMerged() throws Exception {
    assertThat(TestShards.state(shard).batches()).hasSize(1);
    assertThat(TestShards.updates(shard))
        .containsExactly("0 x @99 +1", "1 x @199 +1", "2 x @299 +1", "3 x @399 +1");
  }

  @Test
  void installsOnceAllChunksAreThere() throws Exception {
    List<MergedChunk> chunks = chunks(RANGES);
    take(chunks.get(1));
    take(chunks.get(1));
    take(chunks(RANGES).get(1));
    assertThat(TestShards.state(shard).batches()).as("half of it is there").hasSize(4);
    take(chunks.get(0));
    install.runMails(2);
    assertMerged();
  }

  @Test
  void keepsChunksOverARestore() throws Exception {
    List<MergedChunk> chunks = chunks(RANGES);
    take(chunks.get(0));
    OperatorSubtaskState state = install.snapshot(1, 0);
    install.close();
    start(state);
    take(chunks.get(1));
    install.runMails(2);
    assertMerged();
  }

  /** Killed between the last chunk and the commit: it is committed after the restore. */
  @Test
  void installsAfterARestoreWhatWasComplete() throws Exception {
    List<MergedChunk> chunks = chunks(RANGES);
    take(chunks.get(0));
    take(chunks.get(1));
    OperatorSubtaskState state = install.snapshot(1, 0);
    install.runMails(2);
    install.close();
    start(state);
    install.runMails(1);
    assertMerged();
  }

  /**
   * The queue was made shorter while the merge was under way, so that the level it goes to is full.
   * Its chunks are not thrown away: it waits until that level was merged.
   */
  @Test
  void waitsForRoomInTheLevelAbove() throws Exception {
    TestShards.change(shard, new Command.AlterSpec(2, 9, 9, null, null, null), SOMEBODY);
    for (int i = 4; i < 8; i++) {
      Update row = TestShards.row(slots, 0, i, "x", i * 100L + 99, 1);
      TestShards.append(shard, i * 100L, i * 100L + 100, row);
    }
    for (int i = 0; i < 3; i++) {
      mergeAtOnce(0, i);
    }
    TestShards.change(shard, new Command.AlterSpec(2, 3, 4, null, null, null), SOMEBODY);
    List<String> last = ids().subList(3, 5);
    take(chunks(last, List.of(KeyRange.ALL)).get(0));
    install.runMails(1);
    assertThat(ids()).as("level 1 is full").hasSize(5).containsAll(last);
    mergeAtOnce(1, 0);
    install.setProcessingTime(1_000);
    install.runMails(2);
    assertThat(TestShards.state(shard).batches()).extracting(Batch::level).containsExactly(2, 1, 1);
    assertThat(TestShards.updates(shard)).hasSize(8);
  }

  /** Somebody else merges two batches. */
  private void mergeAtOnce(int level, int first) throws Exception {
    List<String> inputs = ids().subList(first, first + 2);
    Batch merged = chunks(inputs, List.of(KeyRange.ALL)).get(0).batch();
    TestShards.change(shard, new Command.InstallMerge(level, inputs, merged), SOMEBODY);
  }

  private List<String> ids() throws Exception {
    return TestShards.state(shard).batches().stream().map(Batch::id).toList();
  }

  @Test
  void theFirstCompletePlanWinsAndTheOtherIsDropped() throws Exception {
    List<MergedChunk> halves = chunks(RANGES);
    List<MergedChunk> whole = chunks(List.of(KeyRange.ALL));
    take(halves.get(0));
    take(whole.get(0));
    install.runMails(2);
    assertMerged();
    take(halves.get(1));
    assertThat(install.snapshot(1, 0)).isNotNull();
    assertMerged();
  }
}
