package dev.tidemark.flink.source;

import dev.tidemark.flink.ForwardingReader;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.RawRecord.Mark;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.core.io.InputStatus;
import org.jspecify.annotations.Nullable;

/**
 * Puts a mark before the first record of each split that the reader is given, and one behind the
 * last when the split is done.
 */
@SuppressWarnings("try") // Flink lets readers throw anything when they close
final class MarkedReader<S extends SourceSplit> extends ForwardingReader<RawRecord, S> {
  private final MarkedSource.PartitionName<S> partition;
  private final Map<String, String> partitions = new HashMap<>();
  private final ArrayDeque<RawRecord> marks = new ArrayDeque<>();
  private CompletableFuture<Void> marked = new CompletableFuture<>();
  private @Nullable CompletableFuture<Void> awaited;
  private @Nullable CompletableFuture<Void> either;
  private @Nullable MarkingOutput output;

  MarkedReader(SourceReader<RawRecord, S> reader, MarkedSource.PartitionName<S> partition) {
    super(reader);
    this.partition = partition;
  }

  @Override
  public void addSplits(List<S> splits) {
    for (S split : splits) {
      String name = partition.of(split);
      partitions.put(split.splitId(), name);
      marks.add(RawRecord.mark(Mark.ASSIGNED, name));
    }
    reader.addSplits(splits);
    marked.complete(null);
  }

  @Override
  public InputStatus pollNext(ReaderOutput<RawRecord> to) throws Exception {
    RawRecord mark = marks.poll();
    if (mark != null) {
      if (marks.isEmpty()) {
        marked = new CompletableFuture<>();
        either = null;
      }
      to.collect(mark);
      return InputStatus.MORE_AVAILABLE;
    }
    if (output == null || output.to != to) {
      output = new MarkingOutput(to);
    }
    return reader.pollNext(output);
  }

  /** Done as soon as there is a mark or a record; made anew only when one of the two is. */
  @Override
  public CompletableFuture<Void> isAvailable() {
    if (!marks.isEmpty()) {
      return marked;
    }
    CompletableFuture<Void> available = reader.isAvailable();
    if (available.isDone()) {
      return available;
    }
    if (either == null || awaited != available) {
      awaited = available;
      either = CompletableFuture.anyOf(available, marked).thenApply(done -> null);
    }
    return either;
  }

  private void over(String splitId) {
    String name = partitions.remove(splitId);
    if (name != null && output != null) {
      output.to.collect(RawRecord.mark(Mark.OVER, name));
    }
  }

  /** Tells of a split's end, which its reader says here only. */
  private final class MarkingOutput implements ReaderOutput<RawRecord> {
    private final ReaderOutput<RawRecord> to;

    MarkingOutput(ReaderOutput<RawRecord> to) {
      this.to = to;
    }

    @Override
    public void collect(RawRecord record) {
      to.collect(record);
    }

    @Override
    public void collect(RawRecord record, long timestamp) {
      to.collect(record, timestamp);
    }

    @Override
    public void emitWatermark(Watermark watermark) {
      to.emitWatermark(watermark);
    }

    @Override
    public void markIdle() {
      to.markIdle();
    }

    @Override
    public void markActive() {
      to.markActive();
    }

    @Override
    public SourceOutput<RawRecord> createOutputForSplit(String splitId) {
      return to.createOutputForSplit(splitId);
    }

    @Override
    public void releaseOutputForSplit(String splitId) {
      to.releaseOutputForSplit(splitId);
      over(splitId);
    }
  }
}
