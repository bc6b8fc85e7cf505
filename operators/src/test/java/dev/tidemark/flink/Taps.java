package dev.tidemark.flink;

import java.util.Map;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/** Tells a killer what the operators of a job emit, and when, without a word in their code. */
final class Taps {
  /** What an operator has just done when it has emitted a record. */
  private static final Map<String, KillPoint> EMITTED =
      Map.of(
          "mint", KillPoint.DESCRIBED,
          "write", KillPoint.BATCH_EMITTED,
          "append", KillPoint.ACKNOWLEDGED,
          "merge", KillPoint.CHUNK_EMITTED);

  /** How long a snapshot that is held takes; a checkpoint may take less where that is tried. */
  static final long HELD_MILLIS = 1_500;

  private Taps() {}

  /** Puts taps on the sink's operators. */
  static StreamGraph tap(StreamGraph graph, String run) {
    for (StreamNode node : graph.getStreamNodes()) {
      KillPoint emitted = EMITTED.get(node.getOperatorName());
      if (emitted != null) {
        SimpleOperatorFactory<?> factory = (SimpleOperatorFactory<?>) node.getOperatorFactory();
        node.setOperatorFactory(new Tapped<>(run, emitted, factory));
      }
    }
    return graph;
  }

  /** Makes the operator with another output. */
  private static final class Tapped<T> extends AbstractStreamOperatorFactory<T>
      implements OneInputStreamOperatorFactory<Object, T>,
          TwoInputStreamOperatorFactory<Object, Object, T> {
    private static final long serialVersionUID = 1L;

    private final String run;
    private final KillPoint emitted;
    private final SimpleOperatorFactory<T> factory;

    Tapped(String run, KillPoint emitted, SimpleOperatorFactory<T> factory) {
      this.run = run;
      this.emitted = emitted;
      this.factory = factory;
      setChainingStrategy(factory.getChainingStrategy());
    }

    @Override
    public void setProcessingTimeService(ProcessingTimeService service) {
      super.setProcessingTimeService(service);
      factory.setProcessingTimeService(service);
    }

    @Override
    public void setMailboxExecutor(org.apache.flink.api.common.operators.MailboxExecutor executor) {
      super.setMailboxExecutor(executor);
      factory.setMailboxExecutor(executor);
    }

    @Override
    public <O extends StreamOperator<T>> O createStreamOperator(StreamOperatorParameters<T> given) {
      Killer killer = Killer.of(run);
      killer.begins(emitted == KillPoint.DESCRIBED);
      return factory.createStreamOperator(
          new StreamOperatorParameters<>(
              given.getContainingTask(),
              given.getStreamConfig(),
              new Tap<>(given.getOutput(), killer, emitted),
              given::getProcessingTimeService,
              given.getOperatorEventDispatcher(),
              given.getMailboxExecutor()));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader loader) {
      return factory.getStreamOperatorClass(loader);
    }
  }

  private static final class Tap<T> implements Output<StreamRecord<T>> {
    private final Output<StreamRecord<T>> output;
    private final Killer killer;
    private final KillPoint emitted;

    Tap(Output<StreamRecord<T>> output, Killer killer, KillPoint emitted) {
      this.output = output;
      this.killer = killer;
      this.emitted = emitted;
    }

    @Override
    public void collect(StreamRecord<T> record) {
      output.collect(record);
      killer.at(emitted);
    }

    @Override
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> record) {
      output.collect(tag, record);
    }

    @Override
    public void emitWatermark(Watermark mark) {
      output.emitWatermark(mark);
    }

    @Override
    public void emitWatermark(WatermarkEvent mark) {
      output.emitWatermark(mark);
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
      output.emitWatermarkStatus(status);
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {
      output.emitLatencyMarker(marker);
    }

    @Override
    public void emitRecordAttributes(RecordAttributes attributes) {
      output.emitRecordAttributes(attributes);
    }

    @Override
    public void close() {
      output.close();
    }
  }

  /** A function that does nothing but tell when checkpoints pass it. */
  static class Passing<T> extends RichMapFunction<T, T>
      implements CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1L;

    private final String run;
    private final KillPoint snapshot;
    private final KillPoint complete;

    /**
     * Tells of these.
     *
     * @param snapshot when it takes a snapshot; null: it doesn't
     * @param complete when a checkpoint is complete; null: it doesn't
     */
    Passing(String run, KillPoint snapshot, KillPoint complete) {
      this.run = run;
      this.snapshot = snapshot;
      this.complete = complete;
    }

    @Override
    public T map(T value) {
      return value;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws InterruptedException {
      if (snapshot != null) {
        Killer.of(run).at(snapshot);
      }
      if (snapshot == KillPoint.SNAPSHOTTED) {
        Killer.of(run).snapshot(HELD_MILLIS);
      }
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
      if (complete != null) {
        Killer.of(run).at(complete);
      }
    }
  }
}
