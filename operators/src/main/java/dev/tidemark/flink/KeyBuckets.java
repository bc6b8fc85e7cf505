package dev.tidemark.flink;

import dev.tidemark.flink.message.KeyedRow;
import java.util.Arrays;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * By what upsert is keyed: the keys of each shard lie in as many buckets as the job has key groups,
 * one in each. So a truncate, sent as one copy for each bucket, meets every key in its order among
 * the rows.
 *
 * <p>The buckets of a shard begin with a number of its own and go on with {@code n * }{@link
 * SlotKeys#MAX_SHARDS}, as the keys of slots do.
 */
public final class KeyBuckets implements KeySelector<KeyedRow, Integer> {
  private static final long serialVersionUID = 1L;

  private final int buckets;
  private final int[][] keys;

  /**
   * The buckets of a job.
   *
   * @param shards the number of shards
   * @param maxParallelism the job's number of key groups
   */
  public KeyBuckets(int shards, int maxParallelism) {
    this.buckets = maxParallelism;
    this.keys = new int[shards][];
  }

  /** The buckets of each shard. */
  public int buckets() {
    return buckets;
  }

  @Override
  public Integer getKey(KeyedRow row) {
    return row.truncate() ? key(row.shard(), row.bucket()) : key(row.shard(), row.key());
  }

  /** The key of the bucket that a row's key lies in. */
  public int key(int shard, byte[] rowKey) {
    return key(shard, Integer.remainderUnsigned(SlotKeys.hash(rowKey, rowKey.length), buckets));
  }

  private int key(int shard, int bucket) {
    int[] known = keys[shard];
    if (known == null) {
      known = keysOf(shard);
      keys[shard] = known;
    }
    return known[bucket];
  }

  /** The first key of the shard in each key group. */
  private int[] keysOf(int shard) {
    int[] found = new int[buckets];
    Arrays.fill(found, -1);
    int missing = buckets;
    for (int n = 0; missing > 0; n++) {
      int key = Math.addExact(Math.multiplyExact(n, SlotKeys.MAX_SHARDS), shard);
      int group = KeyGroupRangeAssignment.assignToKeyGroup(key, buckets);
      if (found[group] < 0) {
        found[group] = key;
        missing--;
      }
    }
    return found;
  }
}
