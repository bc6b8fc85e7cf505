package dev.tidemark.flink.append;

import dev.tidemark.time.Frontier;
import java.util.Map;

/**
 * Which batches may be appended now, and how far: what differs between the commit modes. Pure; what
 * a restore must know of it is operator state.
 */
interface Coverage {
  /** The tag of batches that are in no checkpoint yet. */
  long NO_TAG = Long.MAX_VALUE;

  /** Everything before {@code frontier} has arrived. */
  void promise(Frontier frontier);

  /** The barrier of a checkpoint passes. */
  void barrier(long checkpoint);

  /** A checkpoint, and with it all before, is complete. */
  void completed(long checkpoint);

  /** How far appends may go. */
  Promise covered();

  /**
   * Whether a batch may be appended.
   *
   * @param tag the first checkpoint that holds it; {@link #NO_TAG}: none
   * @param upper the upper of its description
   */
  boolean covers(long tag, Frontier upper);

  /** Whether nothing may be appended before a first checkpoint, even at the end of input. */
  boolean isGated();

  /** What stands promised, by checkpoint, to be restored from; under {@link #LAST_FINITE} too. */
  Map<Long, Long> state();

  /** Where, among the promises by checkpoint, the last finite frontier is kept. */
  long LAST_FINITE = -1;

  /** The greatest of the promises of a restored state. */
  static Promise restored(Iterable<Map.Entry<Long, Long>> state) {
    Promise promise = Promise.NOTHING;
    for (Map.Entry<Long, Long> entry : state) {
      if (entry.getKey() == LAST_FINITE) {
        promise = promise.advance(Frontier.of(entry.getValue()));
      }
    }
    for (Map.Entry<Long, Long> entry : state) {
      promise = promise.advance(Frontier.of(entry.getValue()));
    }
    return promise;
  }
}
