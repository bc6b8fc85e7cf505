package dev.tidemark.sim;

import java.util.List;

/** Ways to break the protocol, each of which the simulation must notice. */
enum Mutant {
  /** The protocol as it is. */
  NONE(0),
  /** Whatever lies under the number is taken for our own entry. */
  NONCE_NOT_COMPARED(2),
  /** A number that exists is taken for one that we won. */
  EXISTS_IS_WON(2),
  /** Nobody looks whether a block is closed. */
  CLOSED_NOT_CHECKED(58),
  /** A block that was once found open is taken for open ever after. */
  CLOSED_CHECKED_ONCE(58),
  /** A writer appends though a younger attempt of it did, or another writer took over. */
  NOT_FENCED(18),
  /** A writer takes all below the shard's upper for its own. */
  UPPER_IS_DONE(3),
  /** A writer whose append ended unclear takes it for failed and deletes its parts. */
  UNKNOWN_IS_FAILED(17),
  /** A merge whose install ended unclear deletes its output. */
  MERGE_CLEANS_UP(102),
  /** A merge is installed though some of its inputs went elsewhere. */
  INPUTS_NOT_CHECKED(7),
  /** Parts are deleted as soon as nobody names them. */
  NOTHING_KEPT(10),
  /** The collector's own clock tells how long parts are kept. */
  OWN_CLOCK(98),
  /** The collector doesn't look at holds. */
  HOLDS_NOT_SEEN(14),
  /** A merge goes as far as since, whoever holds less. */
  MERGE_PAST_HOLDS(14),
  /** A reader's hold is written after it loaded what it holds. */
  HOLD_AFTER_LOAD(53),
  /** A reader leaves out parts that are gone. */
  GONE_PARTS_LEFT_OUT(22),
  /** Nobody compares the checksums of parts. */
  CHECKSUMS_NOT_COMPARED(20),
  /** Rows outside the bounds of a cut batch count. */
  CUT_ROWS_KEPT(5),
  /** The log is deleted without a marker. */
  BLOCK_NOT_CLOSED(1),
  /** A block is deleted though nobody knows whether its marker was written. */
  MARKER_UNCLEAR(69),
  /** The log is deleted up to where a rollup should be, whether it is there or not. */
  ROLLUP_NOT_READ(8),
  /** All rollups but the newest go, and the log up to it, while its block isn't over. */
  NEWEST_ROLLUP_ONLY(1),
  /** Orphans are deleted before it is durable that they stay out. */
  SWEEP_NOT_ANNOUNCED(272),
  /** What left lately is taken for orphans. */
  SWEEP_TAKES_ALL(232),
  /** Uploads that nobody finishes are left. */
  UPLOADS_LEFT(2),
  /** A merge forgets the error rows of its inputs. */
  MERGE_LOSES_ERRORS(10),
  /** A merge sums up rows at different times that readers can still tell apart. */
  MERGE_LOSES_TIMES(2);

  /** All but the protocol as it is. */
  static final List<Mutant> BROKEN = List.of(values()).subList(1, values().length);

  private final long seed;

  Mutant(long seed) {
    this.seed = seed;
  }

  /**
   * A history that noticed it when this was written: a good first guess. Histories change with the
   * code; then another notices it, and {@code simulate --mutants} tells which.
   */
  long seed() {
    return seed;
  }
}
