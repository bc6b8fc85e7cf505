package dev.tidemark.flink;

import java.io.Serializable;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Which key a slot of a shard has. Rows are keyed by (shard, slot) so that a retraction meets its
 * addition, and the keys are chosen so that the slots of one shard, and the shards, spread over the
 * key groups.
 *
 * <p>A key is {@code n * }{@link #MAX_SHARDS}{@code + shard}, n being the first number that brings
 * it into the slot's key group. So the shard can be told from a key alone, also from one that a job
 * with another number of slots has left in a savepoint.
 */
public final class SlotKeys implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The most shards of one job: what fits beside n in an int, with room for 32,768 key groups. */
  public static final int MAX_SHARDS = 1 << 10;

  private final int runs;
  private final int maxParallelism;
  private final int[][] keys;

  /**
   * The slots of a job.
   *
   * @param shards the number of shards
   * @param runs the slots of each shard
   * @param maxParallelism the job's number of key groups
   */
  public SlotKeys(int shards, int runs, int maxParallelism) {
    if (shards < 1 || shards > MAX_SHARDS) {
      throw new IllegalArgumentException(
          shards + " shards in one job; there can be 1 to " + MAX_SHARDS);
    }
    if (runs < 1 || runs > maxParallelism) {
      throw new IllegalArgumentException(
          "write.runs is " + runs + "; it can be 1 to the " + maxParallelism + " key groups");
    }
    this.runs = runs;
    this.maxParallelism = maxParallelism;
    this.keys = new int[shards][runs];
    for (int shard = 0; shard < shards; shard++) {
      for (int slot = 0; slot < runs; slot++) {
        long group = spread(shard, maxParallelism) + (long) slot * maxParallelism / runs;
        keys[shard][slot] = firstKey(shard, (int) (group % maxParallelism), maxParallelism);
      }
    }
  }

  /** The number of key groups that the keys were chosen for. */
  public int maxParallelism() {
    return maxParallelism;
  }

  /** The slots of each shard. */
  public int runs() {
    return runs;
  }

  /** The key of the slot that a row belongs to, by the bytes of its key. */
  public int slotKey(int shard, byte[] row, int keyLength) {
    int[] slots = keys[shard];
    return slots.length == 1
        ? slots[0]
        : slots[Integer.remainderUnsigned(hash(row, keyLength), slots.length)];
  }

  /** The key of a shard itself, by which append, spine and install are keyed. */
  public int shardKey(int shard) {
    return keys[shard][0];
  }

  /** The shard of a slot's or a shard's key. */
  public static int shardOf(int key) {
    return key & (MAX_SHARDS - 1);
  }

  /**
   * Where a shard's first slot lies: multiples of the golden section, so that the first shards,
   * however many, lie evenly, and their number can grow.
   */
  private static long spread(int shard, int maxParallelism) {
    long fraction = (shard * 0x9E3779B9L) & 0xFFFFFFFFL;
    return (fraction * maxParallelism) >>> 32;
  }

  private static int firstKey(int shard, int group, int maxParallelism) {
    for (int n = 0; n < Integer.MAX_VALUE / MAX_SHARDS; n++) {
      int key = n * MAX_SHARDS + shard;
      if (KeyGroupRangeAssignment.assignToKeyGroup(key, maxParallelism) == group) {
        return key;
      }
    }
    throw new IllegalStateException("no key lies in key group " + group + " of " + maxParallelism);
  }

  /** A polynomial of the bytes, with a finish that brings every bit down into the low ones. */
  static int hash(byte[] row, int length) {
    int hash = length;
    int i = 0;
    // four bytes at a time, so that a multiplication need not wait for the one before it
    for (; i + 4 <= length; i += 4) {
      hash =
          31 * 31 * 31 * 31 * hash
              + 31 * 31 * 31 * row[i]
              + 31 * 31 * row[i + 1]
              + 31 * row[i + 2]
              + row[i + 3];
    }
    for (; i < length; i++) {
      hash = 31 * hash + row[i];
    }
    hash ^= hash >>> 16;
    hash *= 0x85EBCA6B;
    hash ^= hash >>> 13;
    hash *= 0xC2B2AE35;
    return hash ^ (hash >>> 16);
  }
}
