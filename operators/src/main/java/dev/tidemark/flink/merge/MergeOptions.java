package dev.tidemark.flink.merge;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import java.io.Serializable;
import java.util.List;

/**
 * What merge is told.
 *
 * @param shards the job's shards
 * @param settings the sink's settings
 */
public record MergeOptions(List<ShardTarget> shards, SinkSettings settings)
    implements Serializable {
  /** Copies the list. */
  public MergeOptions {
    shards = List.copyOf(shards);
  }
}
