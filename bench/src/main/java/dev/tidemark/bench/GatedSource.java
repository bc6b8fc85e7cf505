package dev.tidemark.bench;

import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.source.legacy.RichParallelSourceFunction;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.types.RowKind;

/**
 * Emits epochs of a fixed number of rows, each closed by a watermark, and after each waits for a
 * checkpoint of itself: one epoch is one commit, whatever the machine. As {@code changelog} it
 * gives the before-image of each update from a table of its own.
 */
@SuppressWarnings("deprecation") // a checkpoint by hand needs the legacy source's lock
final class GatedSource extends RichParallelSourceFunction<RowData>
    implements CheckpointedFunction {
  static final long SEED = 42;
  static final long EPOCH_MILLIS = 1000;
  private static final long serialVersionUID = 1L;

  private final Workload workload;
  private final int parallelism;

  GatedSource(Workload workload, int parallelism) {
    this.workload = workload;
    this.parallelism = parallelism;
  }

  @Override
  public void run(SourceContext<RowData> context) throws Exception {
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    Generator generator = new Generator(SEED, workload.keys(), parallelism);
    boolean beforeImages = workload.envelope() == Workload.Kind.CHANGELOG;
    long[] lastRow = new long[beforeImages ? generator.keysPerSubtask() : 0];
    long[] lastTime = new long[lastRow.length];
    int mine = workload.rowsPerCommit() / parallelism;
    long row = 0;
    Gate.awaitOpen();
    for (int epoch = 0; epoch < workload.commits() && !Gate.isStopped(); epoch++) {
      for (int j = 0; j < mine; j++, row++) {
        int key = generator.localKey(subtask, row);
        long time = epoch * EPOCH_MILLIS + j * EPOCH_MILLIS / mine;
        StringData name = StringData.fromBytes(generator.key(subtask, key));
        synchronized (context.getCheckpointLock()) {
          if (beforeImages && lastRow[key] != 0) {
            byte[] old = generator.value(subtask, lastRow[key] - 1);
            context.collectWithTimestamp(
                GenericRowData.ofKind(
                    RowKind.UPDATE_BEFORE, name, lastTime[key], StringData.fromBytes(old)),
                time);
          }
          byte[] value = generator.value(subtask, row);
          context.collectWithTimestamp(
              GenericRowData.ofKind(RowKind.INSERT, name, time, StringData.fromBytes(value)), time);
        }
        if (beforeImages) {
          lastRow[key] = row + 1;
          lastTime[key] = time;
        }
      }
      synchronized (context.getCheckpointLock()) {
        context.emitWatermark(new Watermark((epoch + 1) * EPOCH_MILLIS - 1));
      }
      Gate.epochEnded(subtask, epoch);
    }
    Gate.awaitStop();
  }

  @Override
  public void cancel() {
    Gate.stop();
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) {
    Gate.snapshotTaken(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
  }

  @Override
  public void initializeState(FunctionInitializationContext context) {}
}
