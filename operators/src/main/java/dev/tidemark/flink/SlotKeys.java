package dev.tidemark.flink;

import java.io.Serializable;

/**
 * Which key a slot of a shard has. Rows are keyed by (shard, slot) so that a retraction meets its
 * addition, and the keys are chosen so that the slots of one shard, and the shards, spread over the
 * key groups.
 */
public final class SlotKeys implements Serializable {
  private static final long serialVersionUID = 1L;

  /**
   * The slots of a job.
   *
   * @param shards the number of shards
   * @param runs the slots of each shard
   * @param maxParallelism the job's number of key groups
   */
  public SlotKeys(int shards, int runs, int maxParallelism) {}

  /** The key of the slot that a row belongs to, by the bytes of its key. */
  public int slotKey(int shard, byte[] row, int keyLength) {
    throw new UnsupportedOperationException();
  }

  /** The key of a shard itself, by which append, spine and install are keyed. */
  public int shardKey(int shard) {
    throw new UnsupportedOperationException();
  }

  /** The shard of a slot's or a shard's key. */
  public int shardOf(int key) {
    throw new UnsupportedOperationException();
  }
}
