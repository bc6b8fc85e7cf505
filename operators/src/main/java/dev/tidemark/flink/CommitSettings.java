package dev.tidemark.flink;

import java.io.Serializable;
import java.time.Duration;

/**
 * When rows become durable, and how the job gets on with what others do to its shards. What doesn't
 * go together is refused by {@link CommitRules}.
 *
 * @param mode what makes rows durable (commit)
 * @param mintInterval how often, with commit = frontier, what the watermark has passed is committed
 *     (mint.interval)
 * @param late what becomes of late rows (late)
 * @param readOnly whether the job prepares everything and appends nothing (read-only)
 * @param lenient whether it goes on when another writer has appended (on-concurrent-writer)
 */
public record CommitSettings(
    CommitMode mode, Duration mintInterval, LateRows late, boolean readOnly, boolean lenient)
    implements Serializable {
  /** How often a job of commit = frontier commits unless told otherwise. */
  public static final Duration MINT_INTERVAL = Duration.ofSeconds(1);

  /** The defaults: commit = checkpoint. */
  public static final CommitSettings CHECKPOINT =
      new CommitSettings(CommitMode.CHECKPOINT, MINT_INTERVAL, LateRows.RETIME, false, false);

  /** With commit = frontier. */
  public static CommitSettings frontier(Duration mintInterval, LateRows late) {
    return new CommitSettings(CommitMode.FRONTIER, mintInterval, late, false, false);
  }

  /** Whether commit = frontier. */
  public boolean isFrontier() {
    return mode == CommitMode.FRONTIER;
  }

  /** The same with another {@code read-only}. */
  public CommitSettings withReadOnly(boolean other) {
    return new CommitSettings(mode, mintInterval, late, other, lenient);
  }

  /** The same with another {@code on-concurrent-writer}. */
  public CommitSettings withLenient(boolean other) {
    return new CommitSettings(mode, mintInterval, late, readOnly, other);
  }
}
