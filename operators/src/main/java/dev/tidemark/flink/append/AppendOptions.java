package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import java.io.Serializable;
import java.util.List;

/**
 * What append is told.
 *
 * @param shards the job's shards
 * @param settings the sink's settings
 * @param slots the keys of shards
 * @param pressing whether the source is to be held back while shards have no room
 */
public record AppendOptions(
    List<ShardTarget> shards, SinkSettings settings, SlotKeys slots, boolean pressing)
    implements Serializable {
  /** Copies the list. */
  public AppendOptions {
    shards = List.copyOf(shards);
  }
}
