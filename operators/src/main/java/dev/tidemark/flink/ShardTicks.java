package dev.tidemark.flink;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * In the place of commits where nobody appends: once a second and shard, word that there may be a
 * later version than any that is known. Never ends.
 */
final class ShardTicks implements GeneratorFunction<Long, ShardCommit> {
  private static final long serialVersionUID = 1L;

  private final List<String> names;

  private ShardTicks(List<String> names) {
    this.names = List.copyOf(names);
  }

  static DataStream<ShardCommit> stream(StreamExecutionEnvironment env, List<ShardTarget> shards) {
    DataGeneratorSource<ShardCommit> source =
        new DataGeneratorSource<>(
            new ShardTicks(shards.stream().map(ShardTarget::name).toList()),
            Long.MAX_VALUE,
            RateLimiterStrategy.perSecond(shards.size()),
            ShardCommit.TYPE);
    return env.fromSource(source, WatermarkStrategy.noWatermarks(), "ticks")
        .uid("tidemark-ticks")
        .setParallelism(1)
        .setMaxParallelism(1);
  }

  @Override
  public ShardCommit map(Long tick) {
    int shard = (int) (tick % names.size());
    return new ShardCommit(shard, names.get(shard), new SeqNo(Long.MAX_VALUE), Frontier.MINIMUM, 0);
  }
}
