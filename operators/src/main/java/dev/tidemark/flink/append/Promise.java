package dev.tidemark.flink.append;

import dev.tidemark.time.Frontier;

/**
 * How far append may commit: everything before {@code frontier} has arrived and is in a completed
 * checkpoint.
 *
 * @param frontier the frontier that was promised; {@code end} when all of the input has arrived
 * @param lastFinite the last one before the end, equal to {@code frontier} until then
 */
record Promise(Frontier frontier, Frontier lastFinite) {
  /** Nothing has been promised. */
  static final Promise NOTHING = new Promise(Frontier.MINIMUM, Frontier.MINIMUM);

  /** What this promise becomes with a later frontier. */
  Promise advance(Frontier to) {
    return new Promise(frontier.max(to), to.isEnd() ? lastFinite : lastFinite.max(to));
  }
}
