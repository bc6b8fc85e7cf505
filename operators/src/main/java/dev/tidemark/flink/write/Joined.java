package dev.tidemark.flink.write;

import dev.tidemark.row.UpdateCursor;
import java.io.IOException;

/** The beginning of a run and what is left of it, as one. */
final class Joined implements UpdateCursor {
  private final UpdateCursor tail;
  private UpdateCursor current;

  Joined(UpdateCursor head, UpdateCursor tail) {
    this.tail = tail;
    this.current = head;
  }

  @Override
  public boolean next() throws IOException {
    if (current.next()) {
      return true;
    }
    if (current == tail) {
      return false;
    }
    current = tail;
    return tail.next();
  }

  @Override
  public byte[] row() {
    return current.row();
  }

  @Override
  public int rowOffset() {
    return current.rowOffset();
  }

  @Override
  public int rowLength() {
    return current.rowLength();
  }

  @Override
  public long time() {
    return current.time();
  }

  @Override
  public long diff() {
    return current.diff();
  }
}
