package dev.tidemark.row;

import java.io.IOException;
import java.util.List;

/**
 * Merges sorted cursors into one: times below {@code since} are advanced to it, equal (row, time)
 * are summed, and sums of zero vanish. Memory: one update a cursor.
 */
public final class MergeCursor implements UpdateCursor {
  /**
   * Merges {@code inputs}; closes them when closed. {@code sinceMillis = Long.MIN_VALUE} leaves
   * times as they are.
   */
  public MergeCursor(List<UpdateCursor> inputs, long sinceMillis) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean next() throws IOException {
    throw new UnsupportedOperationException();
  }

  @Override
  public byte[] row() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int rowOffset() {
    throw new UnsupportedOperationException();
  }

  @Override
  public int rowLength() {
    throw new UnsupportedOperationException();
  }

  @Override
  public long time() {
    throw new UnsupportedOperationException();
  }

  @Override
  public long diff() {
    throw new UnsupportedOperationException();
  }
}
