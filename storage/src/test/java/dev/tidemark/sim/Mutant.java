package dev.tidemark.sim;

/** Ways to break the protocol, each of which the simulation must notice. */
enum Mutant {
  /** The protocol as it is. */
  NONE,
  /** Whatever lies under the number is taken for our own entry. */
  NONCE_NOT_COMPARED,
  /** A number that exists is taken for one that we won. */
  EXISTS_IS_WON,
  /** Nobody looks whether a block is closed. */
  CLOSED_NOT_CHECKED,
  /** A writer whose append ended unclear takes it for failed and deletes its parts. */
  UNKNOWN_IS_FAILED,
  /** A merge whose install ended unclear deletes its output. */
  MERGE_CLEANS_UP,
  /** Parts are deleted as soon as nobody names them. */
  NOTHING_KEPT,
  /** The collector's own clock tells how long parts are kept. */
  OWN_CLOCK,
  /** The collector doesn't look at holds. */
  HOLDS_NOT_SEEN,
  /** A merge goes as far as since, whoever holds less. */
  MERGE_PAST_HOLDS,
  /** The log is deleted without a marker. */
  BLOCK_NOT_CLOSED,
  /** All rollups but the newest go, and the log up to it, while its block isn't over. */
  NEWEST_ROLLUP_ONLY,
  /** Orphans are deleted before it is durable that they stay out. */
  SWEEP_NOT_ANNOUNCED,
  /** A merge sums up rows at different times that readers can still tell apart. */
  MERGE_LOSES_TIMES
}
