package dev.tidemark.flink;

import dev.tidemark.flink.message.Update;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/**
 * Updates of a few keys: number n sets key n mod keys to n at time n, and takes back what stood
 * there. Every so many, an error row. The second half comes slowly while faults are left.
 */
final class ManyUpdates {
  static final int KEYS = 20;
  static final int ERROR_EVERY = 100;

  private ManyUpdates() {}

  static DataStream<Update> stream(
      StreamExecutionEnvironment env, long count, long pauseMillis, SlotKeys slots) {
    return env.fromSource(
            new NumberSequenceSource(0, count - 1), WatermarkStrategy.noWatermarks(), "numbers")
        .uid("numbers")
        .setParallelism(1)
        .flatMap(new ToUpdates(count / 2, pauseMillis, slots))
        .returns(Update.TYPE)
        .uid("to-updates")
        .setParallelism(1)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Update>forMonotonousTimestamps()
                .withTimestampAssigner((row, before) -> row.time))
        .uid("times")
        .setParallelism(1);
  }

  private static final class ToUpdates extends RichFlatMapFunction<Long, Update> {
    private static final long serialVersionUID = 1L;

    private final long half;
    private final long pauseMillis;
    private final SlotKeys slots;

    ToUpdates(long half, long pauseMillis, SlotKeys slots) {
      this.half = half;
      this.pauseMillis = pauseMillis;
      this.slots = slots;
    }

    @Override
    public void flatMap(Long number, Collector<Update> out) throws Exception {
      if (number % 50 == 0) {
        Thread.sleep(number > half && CountedRows.Faults.areLeft() ? 4 * pauseMillis : pauseMillis);
      }
      long key = number % KEYS;
      if (number >= KEYS) {
        out.collect(TestShards.row(slots, 0, key, "" + (number - KEYS), number, -1));
      }
      out.collect(TestShards.row(slots, 0, key, "" + number, number, 1));
      if (number % ERROR_EVERY == 0) {
        out.collect(TestShards.error(slots, 0, "bad " + number, number));
      }
    }
  }
}
