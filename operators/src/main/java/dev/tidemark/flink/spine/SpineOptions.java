package dev.tidemark.flink.spine;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import java.io.Serializable;
import java.util.List;

/**
 * What spine is told.
 *
 * @param shards the job's shards
 * @param settings the sink's settings
 */
public record SpineOptions(List<ShardTarget> shards, SinkSettings settings)
    implements Serializable {
  /** Copies the list. */
  public SpineOptions {
    shards = List.copyOf(shards);
  }
}
