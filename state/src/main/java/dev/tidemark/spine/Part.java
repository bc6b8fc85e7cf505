package dev.tidemark.spine;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The handle of a part: sorted rows that never change.
 *
 * @param location where the rows are
 * @param rows the number of updates
 * @param bytes their row bytes before compression, the unit of every rule and bound
 * @param sum the sum of their diffs
 * @param retracted the row bytes of those whose diff is negative
 * @param minKey a lower bound of the encoded rows, lower-case hex of at most 64 bytes; null when
 *     none is known
 * @param maxKey an upper bound of the encoded rows, likewise
 * @param minTime the least time
 * @param maxTime the greatest time
 * @param extra keys of a later format, name to raw JSON, kept as they are
 */
public record Part(
    PartLocation location,
    long rows,
    long bytes,
    long sum,
    long retracted,
    @Nullable String minKey,
    @Nullable String maxKey,
    long minTime,
    long maxTime,
    Map<String, String> extra) {
  /** Copies the map. */
  public Part {
    extra = Map.copyOf(extra);
  }
}
