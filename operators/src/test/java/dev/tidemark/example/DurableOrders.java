package dev.tidemark.example;

import dev.tidemark.flink.CommitSettings;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.TidemarkSink;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/**
 * Orders are stored in a shard, and each is confirmed only once it can't be lost any more.
 *
 * <p>The stream that {@link TidemarkSink} gives back has an element for each commit, and its
 * watermark says up to which time everything is durable. So an event-time timer behind it, at an
 * order's time, fires once the order can be read from the shard.
 */
public final class DurableOrders {
  private static final TypeInformation<Row> ORDER =
      Types.ROW_NAMED(
          new String[] {"id", "ordered", "item"}, Types.LONG, Types.INSTANT, Types.STRING);

  private DurableOrders() {}

  /** {@code DurableOrders SHARD ORDERS}: a shard's URL, how many orders. */
  public static void main(String[] args) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    env.enableCheckpointing(1_000);
    confirmed(env, args[0], Long.parseLong(args[1])).print();
    env.execute("orders");
  }

  /** The orders' numbers, each once it is durable. */
  static DataStream<Long> confirmed(StreamExecutionEnvironment env, String url, long count) {
    DataStream<Row> orders =
        env.fromSource(
                new DataGeneratorSource<>(
                    DurableOrders::order, count, RateLimiterStrategy.perSecond(500), ORDER),
                WatermarkStrategy.<Row>forMonotonousTimestamps()
                    .withTimestampAssigner((order, before) -> time(order)),
                "orders")
            .uid("orders")
            .setParallelism(1);

    DataStream<ShardCommit> commits =
        TidemarkSink.forShard(
                url,
                SinkSettings.of("orders")
                    .withCommit(CommitSettings.frontier(Duration.ofMillis(200), LateRows.FAIL)))
            .schema(
                "id BIGINT NOT NULL, ordered TIMESTAMP_LTZ(3) NOT NULL, item STRING,"
                    + " PRIMARY KEY (id) NOT ENFORCED")
            .eventTime("ordered")
            .append(orders);

    return orders
        .keyBy(order -> (Long) order.getField("id"))
        .connect(commits.broadcast(Confirm.DURABLE))
        .process(new Confirm())
        .uid("confirm");
  }

  private static Row order(long number) {
    Row order = Row.withNames();
    order.setField("id", number);
    order.setField("ordered", Instant.ofEpochMilli(1_767_225_600_000L + number));
    order.setField("item", "item " + number % 10);
    return order;
  }

  private static long time(Row order) {
    return ((Instant) order.getFieldAs("ordered")).toEpochMilli();
  }

  /** Waits, for each order, until both the orders and the commits have passed its time. */
  private static final class Confirm
      extends KeyedBroadcastProcessFunction<Long, Row, ShardCommit, Long> {
    static final MapStateDescriptor<String, Long> DURABLE =
        new MapStateDescriptor<>("durable", Types.STRING, Types.LONG);

    private static final long serialVersionUID = 1L;

    private final ValueStateDescriptor<Boolean> waits =
        new ValueStateDescriptor<>("waits", Types.BOOLEAN);

    @Override
    public void processElement(Row order, ReadOnlyContext context, Collector<Long> out)
        throws Exception {
      getRuntimeContext().getState(waits).update(true);
      context.timerService().registerEventTimeTimer(time(order));
    }

    @Override
    public void processBroadcastElement(ShardCommit commit, Context context, Collector<Long> out)
        throws Exception {
      BroadcastState<String, Long> durable = context.getBroadcastState(DURABLE);
      durable.put(commit.name(), commit.upper().time());
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<Long> out) throws Exception {
      ValueState<Boolean> waiting = getRuntimeContext().getState(waits);
      if (waiting.value() != null) {
        waiting.clear();
        for (Map.Entry<String, Long> durable :
            context.getBroadcastState(DURABLE).immutableEntries()) {
          if (durable.getValue() <= time) {
            throw new IllegalStateException("not durable yet in " + durable.getKey());
          }
        }
        out.collect(context.getCurrentKey());
      }
    }
  }
}
