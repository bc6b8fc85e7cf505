package dev.tidemark.flink;

import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.pressure.ThrottledSource;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A bounded stream of counted rows: row n goes to shard n mod shards, its time runs on with n
 * within each split, and one row in twenty comes three seconds late.
 */
final class CountedRows {
  static final Schema SCHEMA =
      new Schema(
          1,
          List.of(
              new Column(1, "id", ColumnType.of(ColumnType.Kind.BIGINT, false)),
              new Column(
                  2,
                  "text",
                  new ColumnType(
                      ColumnType.Kind.VARCHAR, true, Integer.MAX_VALUE, 0, List.of(), List.of()))),
          List.of("id"));

  static final long LATE_MILLIS = 3_000;

  /** Time begins here and runs on by this much a row. */
  static final long BEGIN = 1_700_000_000_000L;

  static final long STEP_MILLIS = 2;

  /** How long a reader waits after each 20 rows while faults are left. */
  private static final long SLOW_MILLIS = 40;

  private CountedRows() {}

  /** Failures that are left to inject, by run. */
  static final class Faults {
    static final AtomicInteger LEFT = new AtomicInteger();

    /** Other faults that the job must not end before. */
    static volatile BooleanSupplier others = () -> false;

    /** Checkpoints that the first reader knows to be complete. */
    static final AtomicInteger CHECKPOINTS = new AtomicInteger();

    /** Rows that the readers have read, again after a restart too. */
    static final AtomicLong READ = new AtomicLong();

    /** How often the first reader was started. */
    static final AtomicInteger STARTS = new AtomicInteger();

    private Faults() {}

    static void reset() {
      LEFT.set(0);
      others = () -> false;
      CHECKPOINTS.set(0);
      READ.set(0);
      STARTS.set(0);
    }

    static boolean areLeft() {
      return LEFT.get() > 0 || others.getAsBoolean();
    }
  }

  static List<ShardTarget> shards(String store, int count, SpineSpec spec) {
    List<ShardTarget> shards = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String name = "s" + i;
      shards.add(new ShardTarget("memory:" + store + "/" + name, name, SCHEMA, spec, null));
    }
    return shards;
  }

  /**
   * The stream.
   *
   * @param rows how many
   * @param splits the parallelism of the first run, by which the source cuts the numbers
   * @param pauseMillis how long a reader waits after each 100 rows
   */
  static DataStream<Update> stream(
      StreamExecutionEnvironment env,
      long rows,
      int splits,
      long pauseMillis,
      List<ShardTarget> shards,
      SlotKeys slots) {
    return stream(env, rows, splits, pauseMillis, shards, slots, LATE_MILLIS);
  }

  /** The stream whose late rows are so late; 0: none is. */
  static DataStream<Update> stream(
      StreamExecutionEnvironment env,
      long rows,
      int splits,
      long pauseMillis,
      List<ShardTarget> shards,
      SlotKeys slots,
      long lateMillis) {
    long perSplit = rows / splits;
    return env.fromSource(
            ThrottledSource.of(new NumberSequenceSource(0, rows - 1)),
            WatermarkStrategy.noWatermarks(),
            "numbers",
            Types.LONG)
        .uid("numbers")
        .map(new ToUpdate(perSplit, pauseMillis, shards.size(), slots, lateMillis))
        .returns(Update.TYPE)
        .uid("to-update")
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Update>forBoundedOutOfOrderness(Duration.ofMillis(100))
                .withTimestampAssigner((row, before) -> row.time))
        .uid("times");
  }

  static long time(long number, long perSplit) {
    return time(number, perSplit, LATE_MILLIS);
  }

  static long time(long number, long perSplit, long lateMillis) {
    long time = BEGIN + number % perSplit * STEP_MILLIS;
    return number % 20 == 7 ? Math.max(BEGIN, time - lateMillis) : time;
  }

  /** Encodes rows, waits now and then, and fails when a fault is left after a checkpoint. */
  private static final class ToUpdate extends RichMapFunction<Long, Update>
      implements CheckpointListener {
    private static final long serialVersionUID = 1L;

    private final long perSplit;
    private final long pauseMillis;
    private final int shards;
    private final SlotKeys slots;
    private final long lateMillis;
    private transient RowCodec codec;
    private transient boolean fail;
    private transient int completed;
    private transient int count;

    ToUpdate(long perSplit, long pauseMillis, int shards, SlotKeys slots, long lateMillis) {
      this.perSplit = perSplit;
      this.pauseMillis = pauseMillis;
      this.shards = shards;
      this.slots = slots;
      this.lateMillis = lateMillis;
    }

    @Override
    public void open(OpenContext context) {
      codec = new RowCodec(SCHEMA);
      if (isFirst()) {
        Faults.STARTS.incrementAndGet();
      }
    }

    private boolean isFirst() {
      return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() == 0;
    }

    @Override
    public Update map(Long number) throws Exception {
      if (fail) {
        throw new InjectedFailure();
      }
      count++;
      Faults.READ.incrementAndGet();
      if (Faults.areLeft() && count % 20 == 0) {
        Thread.sleep(SLOW_MILLIS);
      } else if (count % 100 == 0) {
        Thread.sleep(pauseMillis);
      }
      byte[] row = codec.encode(new Object[] {number, "row " + number});
      int shard = (int) (number % shards);
      int slot = slots.slotKey(shard, row, codec.keyLength(row, 0, row.length));
      return new Update(shard, slot, false, row, time(number, perSplit, lateMillis), 1);
    }

    @Override
    public void notifyCheckpointComplete(long checkpoint) {
      if (isFirst()) {
        Faults.CHECKPOINTS.incrementAndGet();
      }
      if (isFirst() && ++completed == 2 && Faults.LEFT.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        fail = true;
      }
    }
  }

  /** Thrown on purpose. */
  static final class InjectedFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}
