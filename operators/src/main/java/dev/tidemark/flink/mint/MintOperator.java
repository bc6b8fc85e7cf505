package dev.tidemark.flink.mint;

import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.Update;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which interval of time the next batches cover. One subtask; its input carries watermarks
 * only. At each tick it describes everything that the watermark has passed since the last
 * description, so that the number of commits follows the clock and not the data. With commit =
 * checkpoint each barrier is a tick, and comes right behind the description; with commit = frontier
 * a timer ticks.
 *
 * <ol>
 *   <li>Descriptions tile: each begins where the last one ended.
 *   <li>A description comes before the barrier at whose checkpoint its rows are closed.
 *   <li>The end of input makes {@code [lower, end)} at once; nothing comes after it.
 * </ol>
 */
public final class MintOperator extends AbstractStreamOperator<BatchDescription>
    implements OneInputStreamOperator<Update, BatchDescription> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(MintOperator.class);

  /** Ticks at barriers. */
  private static final long AT_BARRIERS = 0;

  private final long tickMillis;

  private transient ListState<Long> lowerState;
  private transient Frontier lower;
  private transient Frontier passed;
  private transient @Nullable ScheduledFuture<?> nextTick;

  /** Ticks before each barrier. */
  public MintOperator() {
    this.tickMillis = AT_BARRIERS;
  }

  /** Ticks by the clock, never at a barrier. */
  public MintOperator(Duration interval) {
    if (interval.toMillis() <= 0) {
      throw new IllegalArgumentException("no interval: " + interval);
    }
    this.tickMillis = interval.toMillis();
  }

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
  public void open() throws Exception {
    super.open();
    if (tickMillis != AT_BARRIERS) {
      nextTick(getProcessingTimeService().getCurrentProcessingTime());
    }
  }

  private void nextTick(long now) {
    nextTick = getProcessingTimeService().registerTimer(now + tickMillis, this::tick);
  }

  private void tick(long due) {
    nextTick = null;
    describe();
    if (!lower.isEnd()) {
      // From the time at which it came, so that ticks that were held up aren't made up for.
      nextTick(getProcessingTimeService().getCurrentProcessingTime());
    }
  }

  @Override
  public void close() throws Exception {
    if (nextTick != null) {
      nextTick.cancel(false);
    }
    super.close();
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
    if (tickMillis == AT_BARRIERS) {
      describe();
    }
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
