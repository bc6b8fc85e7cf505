package dev.tidemark.flink.upsert;

import dev.tidemark.flink.KeyBuckets;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import java.io.Serializable;
import java.util.List;

/**
 * What upsert is told.
 *
 * @param shards the job's shards
 * @param upserts which of them are written by key, by index
 * @param slots where updates go
 * @param buckets by what the operator is keyed
 * @param start what a job without state does
 * @param errorsFail whether a row that can't be made whole fails the job; else it becomes an error
 *     row
 */
public record UpsertSettings(
    List<ShardTarget> shards,
    List<Integer> upserts,
    SlotKeys slots,
    KeyBuckets buckets,
    StartSettings start,
    boolean errorsFail)
    implements Serializable {
  /** Copies the lists. */
  public UpsertSettings {
    shards = List.copyOf(shards);
    upserts = List.copyOf(upserts);
  }
}
