package dev.tidemark.flink.write;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.spine.Part;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.StreamTaskActionExecutor;
import org.apache.flink.streaming.runtime.tasks.mailbox.MailboxExecutorImpl;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.util.KeyedTwoInputStreamOperatorTestHarness;

/** One subtask of write. */
final class WriteHarness
    extends KeyedTwoInputStreamOperatorTestHarness<
        Integer, Update, BatchDescription, WrittenBatch> {
  static final int KEY_GROUPS = 16;

  private final List<ShardTarget> targets;
  private long checkpoint;

  WriteHarness(WriteOptions options, int parallelism, int subtask) throws Exception {
    super(
        new WriteOperator(options),
        row -> row.slotKey,
        description -> keyOf(parallelism, subtask),
        Types.INT,
        KEY_GROUPS,
        parallelism,
        subtask);
    targets = options.shards();
    setStateBackend(new EmbeddedRocksDBStateBackend());
    WriteOperator write = (WriteOperator) operator;
    write.setMailboxExecutor(
        new MailboxExecutorImpl(getTaskMailbox(), 0, StreamTaskActionExecutor.IMMEDIATE));
    setup(WrittenBatch.Serializer.INSTANCE);
  }

  /** The only subtask, without state or with it. */
  static WriteHarness start(WriteOptions options, OperatorSubtaskState state) throws Exception {
    WriteHarness write = new WriteHarness(options, 1, 0);
    if (state == null) {
      write.initializeEmptyState();
    } else {
      write.initializeState(state);
    }
    write.open();
    return write;
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

  WriteOperator write() {
    return (WriteOperator) operator;
  }

  long slotsWithHeldRows() throws Exception {
    try (var keys =
        getOperator()
            .<Integer>getKeyedStateBackend()
            .getKeys("held-rows-2", VoidNamespace.INSTANCE)) {
      return keys.count();
    }
  }

  private static int keyOf(int parallelism, int subtask) {
    for (int key = 0; ; key++) {
      if (KeyGroupRangeAssignment.assignKeyToParallelOperator(key, KEY_GROUPS, parallelism)
          == subtask) {
        return key;
      }
    }
  }

  void row(Update update) throws Exception {
    processElement1(new StreamRecord<>(update));
  }

  void describe(long lower, long upper) throws Exception {
    processElement2(
        new StreamRecord<>(new BatchDescription(Frontier.of(lower), Frontier.of(upper))));
  }

  OperatorSubtaskState barrier() throws Exception {
    prepareSnapshotPreBarrier(++checkpoint);
    return snapshot(checkpoint, 0);
  }

  /** Reads the mails until a description has closed. */
  void passed(long watermark) throws Exception {
    processWatermark1(new Watermark(watermark));
    while (getOutput().stream()
        .noneMatch(e -> e instanceof Watermark mark && mark.getTimestamp() >= watermark)) {
      getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    }
  }

  /** What came out since: {@code shard [lower, upper): id@time… !reason @time…} and watermarks. */
  List<String> out() throws Exception {
    List<String> out = new ArrayList<>();
    for (Object next : getOutput()) {
      if (next instanceof Watermark mark) {
        out.add("W " + mark.getTimestamp());
      } else if (next instanceof StreamRecord<?> record) {
        out.add(line((WrittenBatch) record.getValue()));
      } else {
        out.add(next.toString());
      }
    }
    getOutput().clear();
    return out;
  }

  private String line(WrittenBatch batch) throws Exception {
    ShardTarget target = targets.get(batch.shard());
    StringBuilder line = new StringBuilder(target.name());
    line.append(" [").append(text(batch.bounds().lower())).append(", ");
    line.append(text(batch.bounds().upper())).append("):");
    for (List<Part> run : batch.batch().runs()) {
      append(line, TestShards.parts(target).readRun(run, TestShards.SCHEMA, TestShards.SCHEMA));
    }
    if (batch.rowBlock().length > 0) {
      append(line, RowBlock.decode(batch.rowBlock()));
    }
    if (batch.errorBlock().length > 0) {
      try (UpdateCursor errors = RowBlock.decode(batch.errorBlock())) {
        while (errors.next()) {
          line.append(" !").append(TestShards.errorLine(errors));
        }
      }
    }
    return line.toString();
  }

  private static void append(StringBuilder line, UpdateCursor rows) throws Exception {
    try (rows) {
      for (String row : TestShards.lines(rows)) {
        String[] words = row.split(" ", -1);
        line.append(' ').append(words[0]).append(words[2]);
      }
    }
  }

  private static String text(Frontier frontier) {
    return frontier.isMinimum() ? "min" : frontier.isEnd() ? "end" : "" + frontier.time();
  }
}
