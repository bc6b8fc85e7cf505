package dev.tidemark.flink.decode;

import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.clock.RelativeClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watermarks by the times of rows, as {@link RowTimes} decides. Flink's own take a time of every
 * record where it leaves its source; here a record is read first, and may be no row at all.
 */
final class RowWatermarks implements Intake.TimeListener {
  private static final Logger LOG = LoggerFactory.getLogger(RowWatermarks.class);
  private static final long LOOK_MILLIS = 10_000;
  private static final int MOST_NAMES = 10;

  private final RowTimes times;
  private final RelativeClock activity;
  private final ProcessingTimeService clock;
  private final Output<? extends StreamRecord<?>> output;
  private final long intervalMillis;
  private long last = Long.MIN_VALUE;
  private long latest = Long.MIN_VALUE;
  private long lookedMillis;
  private boolean idle;
  private boolean closed;

  /**
   * Watermarks of one subtask.
   *
   * @param activity stands still while the subtask can't get rows, so as not to call it idle then
   */
  RowWatermarks(
      WatermarkSettings settings,
      RelativeClock activity,
      ProcessingTimeService clock,
      Output<? extends StreamRecord<?>> output,
      long intervalMillis) {
    this.times = new RowTimes(settings, activity.relativeTimeMillis());
    this.activity = activity;
    this.clock = clock;
    this.output = output;
    this.intervalMillis = intervalMillis;
    this.lookedMillis = activity.relativeTimeMillis();
    next();
  }

  private void next() {
    if (intervalMillis > 0) {
      var unused = // its failure fails the task
          clock.registerTimer(clock.getCurrentProcessingTime() + intervalMillis, this::onTimer);
    }
  }

  private void onTimer(long time) {
    if (closed) {
      return;
    }
    long now = activity.relativeTimeMillis();
    RowTimes.Progress progress = times.tick(now);
    if (progress.watermark() > last) {
      markActive();
      last = progress.watermark();
      output.emitWatermark(new Watermark(last));
    }
    if (progress.idle()) {
      markIdle();
    } else {
      markActive();
    }
    if (now - lookedMillis >= LOOK_MILLIS) {
      lookedMillis = now;
      sayWhoIsSilent(now);
    }
    next();
  }

  private void sayWhoIsSilent(long now) {
    List<String> silent = times.newlySilent(now);
    if (!silent.isEmpty()) {
      LOG.warn(
          "event time stands at {}: nothing has come for {} s from {}{}; if that is as it should"
              + " be, set source.idle-timeout",
          last == Long.MIN_VALUE ? "its minimum" : last,
          RowTimes.SILENT_MILLIS / 1000,
          String.join(", ", silent.subList(0, Math.min(MOST_NAMES, silent.size()))),
          silent.size() > MOST_NAMES ? " and " + (silent.size() - MOST_NAMES) + " more" : "");
    }
  }

  @Override
  public long latest() {
    return latest;
  }

  /** How many partitions hold the watermark and have been silent for long. */
  int silent() {
    return times.silent();
  }

  @Override
  public void onRow(String partition, long time) {
    latest = Math.max(latest, time);
    times.row(partition, time);
    markActive();
  }

  void onAssigned(String partition) {
    times.assigned(partition, activity.relativeTimeMillis());
    markActive();
  }

  void onOver(String partition) {
    times.over(partition);
  }

  void onEnd() {
    closed = true;
    markActive();
    output.emitWatermark(Watermark.MAX_WATERMARK);
  }

  void close() {
    closed = true;
  }

  private void markIdle() {
    if (!idle) {
      idle = true;
      output.emitWatermarkStatus(WatermarkStatus.IDLE);
    }
  }

  private void markActive() {
    if (idle) {
      idle = false;
      output.emitWatermarkStatus(WatermarkStatus.ACTIVE);
    }
  }
}
