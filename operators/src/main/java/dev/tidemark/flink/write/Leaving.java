package dev.tidemark.flink.write;

import dev.tidemark.row.UpdateCursor;
import dev.tidemark.time.BatchDescription;
import java.io.IOException;

/**
 * The updates of one sorted run that leave with a description: those with a time below its upper.
 * The others are put aside, to stay.
 */
final class Leaving implements UpdateCursor {
  private final UpdateCursor all;
  private final BatchDescription description;
  private final Staying stay;
  private long retimed;

  Leaving(UpdateCursor all, BatchDescription description, Staying stay) {
    this.all = all;
    this.description = description;
    this.stay = stay;
  }

  /** How many of those that left so far came too late for their own time. */
  long retimed() {
    return retimed;
  }

  @Override
  public boolean next() throws IOException {
    while (all.next()) {
      long time = all.time();
      if (description.upper().hasPassed(time)) {
        if (description.lower().hasPassed(time) && time != Long.MIN_VALUE) {
          retimed++;
        }
        return true;
      }
      stay.add(all);
    }
    return false;
  }

  @Override
  public byte[] row() {
    return all.row();
  }

  @Override
  public int rowOffset() {
    return all.rowOffset();
  }

  @Override
  public int rowLength() {
    return all.rowLength();
  }

  @Override
  public long time() {
    return all.time();
  }

  @Override
  public long diff() {
    return all.diff();
  }

  @Override
  public void close() throws IOException {
    all.close();
  }
}
