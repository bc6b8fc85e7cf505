package dev.tidemark.flink;

import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A shard that a job writes.
 *
 * @param url where it lies: {@code s3://bucket/warehouse/name}, {@code file:///path/name}, {@code
 *     memory:store/name}
 * @param name its name, for metrics and messages
 * @param schema its schema
 * @param spec the spec it is created with
 * @param retain how far since stays behind the committed upper, in event time; null: for ever
 * @param evolves whether the shard's schema follows the job's (schema.change = evolve); else the
 *     job must have the shard's
 */
public record ShardTarget(
    String url,
    String name,
    Schema schema,
    SpineSpec spec,
    @Nullable Duration retain,
    boolean evolves)
    implements Serializable {
  /** A shard whose schema stays. */
  public ShardTarget(
      String url, String name, Schema schema, SpineSpec spec, @Nullable Duration retain) {
    this(url, name, schema, spec, retain, false);
  }

  /** A shard that a job merges and never appends to, or makes: what its rows are is in its log. */
  public static ShardTarget merged(String url, String name, @Nullable Duration retain) {
    return new ShardTarget(
        url, name, new Schema(0, List.of(), List.of()), SpineSpec.DEFAULT, retain);
  }

  /** Whether the job appends to it. */
  boolean isWritten() {
    return !schema.columns().isEmpty();
  }
}
