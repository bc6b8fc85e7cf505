package dev.tidemark.flink.decode;

import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.clock.RelativeClock;

/**
 * Watermarks by the times of rows, by Flink's own generators. Flink's operator for this takes a
 * time of every record and serves one output; here a record may be no row, or go to another output.
 */
final class RowWatermarks implements WatermarkOutput {
  private final WatermarkGenerator<Long> generator;
  private final ProcessingTimeService clock;
  private final Output<? extends StreamRecord<?>> output;
  private final long intervalMillis;
  private long last = Long.MIN_VALUE;
  private long latest = Long.MIN_VALUE;
  private boolean idle;
  private boolean closed;

  /**
   * Watermarks of one subtask.
   *
   * @param activity stands still while the subtask can't get rows, so as not to call it idle then
   */
  RowWatermarks(
      WatermarkStrategy<Long> strategy,
      RelativeClock activity,
      MetricGroup metrics,
      ProcessingTimeService clock,
      Output<? extends StreamRecord<?>> output,
      long intervalMillis) {
    this.clock = clock;
    this.output = output;
    this.intervalMillis = intervalMillis;
    this.generator =
        strategy.createWatermarkGenerator(
            new WatermarkGeneratorSupplier.Context() {
              @Override
              public MetricGroup getMetricGroup() {
                return metrics;
              }

              @Override
              public RelativeClock getInputActivityClock() {
                return activity;
              }
            });
    next();
  }

  private void next() {
    if (intervalMillis > 0) {
      var unused = // its failure fails the task
          clock.registerTimer(clock.getCurrentProcessingTime() + intervalMillis, this::onTimer);
    }
  }

  private void onTimer(long time) {
    if (!closed) {
      generator.onPeriodicEmit(this);
      next();
    }
  }

  /** The latest time of a row so far. */
  long latest() {
    return latest;
  }

  void onRow(long time) {
    latest = Math.max(latest, time);
    generator.onEvent(time, time, this);
  }

  void onEnd() {
    closed = true;
    markActive();
    output.emitWatermark(Watermark.MAX_WATERMARK);
  }

  void close() {
    closed = true;
  }

  @Override
  public void emitWatermark(org.apache.flink.api.common.eventtime.Watermark mark) {
    if (mark.getTimestamp() > last) {
      markActive();
      last = mark.getTimestamp();
      output.emitWatermark(new Watermark(last));
    }
  }

  @Override
  public void markIdle() {
    if (!idle) {
      idle = true;
      output.emitWatermarkStatus(WatermarkStatus.IDLE);
    }
  }

  @Override
  public void markActive() {
    if (idle) {
      idle = false;
      output.emitWatermarkStatus(WatermarkStatus.ACTIVE);
    }
  }
}
