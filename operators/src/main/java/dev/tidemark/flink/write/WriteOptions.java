package dev.tidemark.flink.write;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import java.io.Serializable;
import java.util.List;

/**
 * What write is told.
 *
 * @param shards the job's shards
 * @param settings the sink's settings
 */
public record WriteOptions(List<ShardTarget> shards, SinkSettings settings)
    implements Serializable {
  /** Copies the list. */
  public WriteOptions {
    shards = List.copyOf(shards);
  }

  int inlineBytes() {
    return settings.inlineBytes();
  }
}
