package dev.tidemark.flink.pressure;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;

/**
 * A reader that has nothing available while the gate is closed, not even its end: only polling
 * would tell that, and polling may read. The future that Flink waits on is then the gate's, so
 * nothing is polled in vain. All else goes on.
 */
@SuppressWarnings("try") // Flink lets readers throw anything when they close
final class ThrottledReader<T, S extends SourceSplit> implements SourceReader<T, S> {
  private final SourceReader<T, S> reader;
  private final SourceGate gate;
  private boolean closed;

  ThrottledReader(SourceReader<T, S> reader, SourceGate gate) {
    this.reader = reader;
    this.gate = gate;
  }

  @Override
  public void start() {
    reader.start();
  }

  @Override
  public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
    return gate.isOpen() ? reader.pollNext(output) : InputStatus.NOTHING_AVAILABLE;
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    CompletableFuture<Void> opened = gate.opened();
    return opened.isDone() ? reader.isAvailable() : opened;
  }

  @Override
  public List<S> snapshotState(long checkpointId) {
    return reader.snapshotState(checkpointId);
  }

  @Override
  public void addSplits(List<S> splits) {
    reader.addSplits(splits);
  }

  @Override
  public void notifyNoMoreSplits() {
    reader.notifyNoMoreSplits();
  }

  @Override
  public void handleSourceEvents(SourceEvent sourceEvent) {
    reader.handleSourceEvents(sourceEvent);
  }

  @Override
  public void pauseOrResumeSplits(
      Collection<String> splitsToPause, Collection<String> splitsToResume) {
    reader.pauseOrResumeSplits(splitsToPause, splitsToResume);
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    reader.notifyCheckpointComplete(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    reader.notifyCheckpointAborted(checkpointId);
  }

  @Override
  public void close() throws Exception {
    try {
      reader.close();
    } finally {
      if (!closed) {
        closed = true;
        gate.close();
      }
    }
  }
}
