package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.message.WrittenBatch;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;

/** One subtask of append. */
final class AppendHarness
    extends KeyedOneInputStreamOperatorTestHarness<Integer, WrittenBatch, ShardCommit> {
  static final int KEY_GROUPS = 16;

  private AppendHarness(
      List<ShardTarget> shards, SinkSettings settings, SlotKeys slots, int parallelism, int subtask)
      throws Exception {
    super(
        new AppendOperator(new AppendOptions(shards, settings, slots, true)),
        batch -> slots.shardKey(batch.shard()),
        Types.INT,
        KEY_GROUPS,
        parallelism,
        subtask);
    setStateBackend(new EmbeddedRocksDBStateBackend());
    setup(ShardCommit.Serializer.INSTANCE);
    ((AppendOperator) operator)
        .setMailboxExecutor(
            new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
  }

  /** Begins without state, or with it. */
  static AppendHarness start(
      List<ShardTarget> shards, SinkSettings settings, SlotKeys slots, OperatorSubtaskState state)
      throws Exception {
    return start(shards, settings, slots, state, 1, 0);
  }

  static AppendHarness start(
      List<ShardTarget> shards,
      SinkSettings settings,
      SlotKeys slots,
      OperatorSubtaskState state,
      int parallelism,
      int subtask)
      throws Exception {
    AppendHarness append = new AppendHarness(shards, settings, slots, parallelism, subtask);
    try {
      if (state == null) {
        append.initializeEmptyState();
      } else {
        append.initializeState(state);
      }
      append.open();
      return append;
    } catch (Exception e) {
      append.close();
      throw e;
    }
  }

  void add(List<WrittenBatch> batches) throws Exception {
    for (WrittenBatch batch : batches) {
      processElement(new StreamRecord<>(batch));
    }
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

  /** Waits for the appends under way, as the task's mailbox does. */
  void settle() throws Exception {
    settle(0);
  }

  /** Waits until no more than so many appends are under way. */
  void settle(int left) throws Exception {
    AppendOperator append = (AppendOperator) operator;
    while (append.appendsInFlight() > left) {
      runMail();
    }
  }

  /** Waits for a mail, and reads it. */
  void runMail() throws Exception {
    getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
  }

  /** What came out since: {@code shard upper rows}, and watermarks. */
  List<String> out() {
    List<String> out = new ArrayList<>();
    for (Object next : getOutput()) {
      if (next instanceof Watermark mark) {
        out.add("W " + mark.getTimestamp());
      } else if (next instanceof StreamRecord<?> record) {
        ShardCommit commit = (ShardCommit) record.getValue();
        out.add(commit.name() + " " + commit.upper().time() + " " + commit.rows());
      } else {
        out.add(next.toString());
      }
    }
    getOutput().clear();
    return out;
  }
}
