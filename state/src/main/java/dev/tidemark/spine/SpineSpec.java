package dev.tidemark.spine;

import java.io.Serializable;

/**
 * The promise that a shard keeps: how many runs a reader may have to merge, how often a row may be
 * written, how much garbage may lie about. Stored with the shard, enforced by its state machine.
 *
 * @param fanIn N, runs merged at a time
 * @param queue K, the most runs that a level may count, at least 2N - 1
 * @param rest R, runs in all above which a quiet shard merges on, at least 2N
 * @param baseBytes w0, the row bytes at which a batch stops being small
 * @param space sigma, the most space amplification, above 1
 * @param merging whether merges are planned; off: appends go on to K and then wait
 */
public record SpineSpec(
    int fanIn, int queue, int rest, long baseBytes, double space, boolean merging)
    implements Serializable {
  /** What a shard gets when nobody says otherwise. */
  public static final SpineSpec DEFAULT = new SpineSpec(8, 16, 24, 1L << 20, 2.0, true);
}
