package dev.tidemark.flink.pressure;

import dev.tidemark.flink.ForwardingReader;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;

/**
 * A reader that has nothing available while the gate is closed, not even its end: only polling
 * would tell that, and polling may read. The future that Flink waits on is then the gate's, so
 * nothing is polled in vain. All else goes on.
 */
@SuppressWarnings("try") // Flink lets readers throw anything when they close
final class ThrottledReader<T, S extends SourceSplit> extends ForwardingReader<T, S> {
  private final SourceGate gate;
  private boolean closed;

  ThrottledReader(SourceReader<T, S> reader, SourceGate gate) {
    super(reader);
    this.gate = gate;
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
