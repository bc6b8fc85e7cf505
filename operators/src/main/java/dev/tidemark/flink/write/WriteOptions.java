package dev.tidemark.flink.write;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.schema.Schema;
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

  /** The schema in which a shard's rows are written: a new shard's first. */
  Schema schema(int shard) {
    Schema schema = shards.get(shard).schema();
    return new Schema(1, schema.columns(), schema.key());
  }

  int inlineBytes() {
    return settings.inlineBytes();
  }
}
