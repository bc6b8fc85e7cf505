package dev.tidemark.flink.install;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import java.io.Serializable;
import java.util.List;

/**
 * What install is told.
 *
 * @param shards the job's shards
 * @param settings the sink's settings
 */
public record InstallOptions(List<ShardTarget> shards, SinkSettings settings)
    implements Serializable {
  /** Copies the list. */
  public InstallOptions {
    shards = List.copyOf(shards);
  }
}
