package dev.tidemark.read;

import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.spine.Batch;
import java.io.IOException;

/** The updates of a cursor whose times lie in a range. */
final class TimeFilter extends ForwardingCursor {
  private final long least;
  private final long most;

  private TimeFilter(UpdateCursor updates, long least, long most) {
    super(updates);
    this.least = least;
    this.most = most;
  }

  /**
   * What a reader at {@code asOf} takes of a batch: nothing later, and of a cut batch nothing
   * outside its bounds. A merge may have advanced times to its since, past the batch's upper; those
   * are inside.
   *
   * @param maxTime the greatest time that {@code updates} has
   */
  static UpdateCursor of(UpdateCursor updates, Batch batch, long maxTime, long asOf) {
    if (!batch.cut()) {
      return maxTime <= asOf ? updates : new TimeFilter(updates, Long.MIN_VALUE, asOf);
    }
    long since = batch.since().time();
    long lower = Math.max(batch.bounds().lower().time(), since);
    long last = Math.max(batch.bounds().upper().time() - 1, since);
    return new TimeFilter(updates, lower, Math.min(last, asOf));
  }

  /**
   * What a listener takes of a batch that was merged with a since before {@code least}: the updates
   * from {@code least} up to {@code most}, of a cut batch none outside its bounds.
   */
  static UpdateCursor between(UpdateCursor updates, Batch batch, long least, long most) {
    long lower = batch.cut() ? Math.max(batch.bounds().lower().time(), least) : least;
    long last = batch.cut() ? Math.min(batch.bounds().upper().time() - 1, most) : most;
    return new TimeFilter(updates, lower, last);
  }

  @Override
  public boolean next() throws IOException {
    while (updates.next()) {
      if (updates.time() >= least && updates.time() <= most) {
        return true;
      }
    }
    return false;
  }
}
