package dev.tidemark.flink;

import dev.tidemark.flink.message.Update;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Makes a stream of updates durable as shards: mint, write and append, and on a side path spine,
 * merge and install (docs/concepts.md). Every operator has a uid.
 */
public final class TidemarkSink {
  private TidemarkSink() {}

  /** The slots of a job with these shards, by which its source computes {@link Update#slotKey}. */
  public static SlotKeys slotKeys(
      List<ShardTarget> shards, SinkSettings settings, int parallelism, int maxParallelism) {
    throw new UnsupportedOperationException();
  }

  /**
   * Builds the topology behind {@code updates}, whose watermarks say which times are complete.
   *
   * @return what became durable, shard by shard; a job may wait on it
   */
  public static DataStream<ShardCommit> append(
      DataStream<Update> updates, List<ShardTarget> shards, SinkSettings settings, SlotKeys slots) {
    throw new UnsupportedOperationException();
  }
}
