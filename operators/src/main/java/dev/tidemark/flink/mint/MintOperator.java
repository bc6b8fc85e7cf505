package dev.tidemark.flink.mint;

import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.Update;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which interval of time the next batches cover. One subtask; its input carries watermarks
 * only. Before each barrier it describes everything that the watermark has passed since the last
 * description, so that the number of commits follows the checkpoints and not the data.
 *
 * <ol>
 *   <li>Descriptions tile: each begins where the last one ended.
 *   <li>A description comes before the barrier at whose checkpoint its rows become durable.
 *   <li>The end of input makes {@code [lower, end)} at once; nothing comes after it.
 * </ol>
 */
public final class MintOperator extends AbstractStreamOperator<BatchDescription>
    implements OneInputStreamOperator<Update, BatchDescription> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(MintOperator.class);

  private transient ListState<Long> lowerState;
  private transient Frontier lower;
  private transient Frontier passed;

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    lowerState =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("lower-1", Types.LONG));
    passed = Frontier.MINIMUM;
    lower = Frontier.MINIMUM;
    for (long restored : lowerState.get()) {
      lower = lower.max(Frontier.of(restored));
    }
  }

  @Override
  public void processElement(StreamRecord<Update> row) {
    throw new IllegalStateException("mint's input carries watermarks only");
  }

  @Override
  public void processWatermark(Watermark mark) {
    passed = passed.max(Frontier.ofWatermark(mark.getTimestamp()));
    if (passed.isEnd()) {
      describe();
      output.emitWatermark(Watermark.MAX_WATERMARK);
    } else if (lower.isEnd()) {
      throw new StopForGoodException(
          "the state that this job was restored from was taken at the end of its input, which now"
              + " goes on: restore an earlier checkpoint, or a savepoint taken without --drain");
    }
  }

  /** Idleness ends here: what is held back for it would never be made up for downstream. */
  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) {
    describe();
  }

  /** Emits what has passed since the last description, if anything has, and the watermark. */
  private void describe() {
    if (lower.isBefore(passed)) {
      BatchDescription description = new BatchDescription(lower, passed);
      LOG.debug("describes {}", description);
      output.collect(new StreamRecord<>(description));
      lower = passed;
      if (!passed.isEnd()) {
        output.emitWatermark(new Watermark(passed.watermark()));
      }
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    lowerState.update(List.of(lower.time()));
  }
}
