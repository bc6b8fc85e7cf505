package dev.tidemark.flink.source;

import dev.tidemark.flink.message.RawRecord;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.jspecify.annotations.Nullable;

/**
 * Topics that are read up to where they ended at the start. The connector tells readers that no
 * more partitions come only when it finds some; a job that was restored finds none, and would never
 * end. Here they are told as they come, after they were given what was left over.
 */
final class BoundedKafkaSource extends MarkedSource<KafkaPartitionSplit, KafkaSourceEnumState> {
  private static final long serialVersionUID = 1L;

  BoundedKafkaSource(KafkaSource<RawRecord> source) {
    super(source, KafkaPartitionSplit::splitId);
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState state)
      throws Exception {
    SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restored =
        super.restoreEnumerator(context, state);
    return state.initialDiscoveryFinished() ? new AllFound(restored, context) : restored;
  }

  private record AllFound(
      SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> enumerator,
      SplitEnumeratorContext<KafkaPartitionSplit> context)
      implements SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> {
    @Override
    public void start() {
      enumerator.start();
    }

    @Override
    public void addReader(int subtask) {
      enumerator.addReader(subtask);
      context.signalNoMoreSplits(subtask);
    }

    @Override
    public void handleSplitRequest(int subtask, @Nullable String host) {
      enumerator.handleSplitRequest(subtask, host);
    }

    @Override
    public void addSplitsBack(List<KafkaPartitionSplit> splits, int subtask) {
      enumerator.addSplitsBack(splits, subtask);
    }

    @Override
    public KafkaSourceEnumState snapshotState(long checkpointId) throws Exception {
      return enumerator.snapshotState(checkpointId);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) throws Exception {
      enumerator.notifyCheckpointComplete(checkpointId);
    }

    @Override
    public void handleSourceEvent(int subtask, SourceEvent event) {
      enumerator.handleSourceEvent(subtask, event);
    }

    @Override
    public void close() throws IOException {
      enumerator.close();
    }
  }
}
