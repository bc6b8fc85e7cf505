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
  private static final long LEAST_STAY_BYTES = 64 << 10;

  /** Copies the list. */
  public WriteOptions {
    shards = List.copyOf(shards);
  }

  /** What one slot may leave behind in memory when it closes; the rest goes to disk. */
  long stayBytes() {
    return Math.max(LEAST_STAY_BYTES, settings.bufferBytes() / 8);
  }

  int inlineBytes() {
    return settings.inlineBytes();
  }
}
