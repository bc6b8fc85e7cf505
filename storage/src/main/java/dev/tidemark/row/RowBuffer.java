package dev.tidemark.row;

/**
 * Holds updates in pages of bytes and gives them back sorted and consolidated: LSD radix sort on an
 * 8-byte prefix, full comparison only where prefixes are equal. Not thread-safe.
 */
public final class RowBuffer {
  /** An empty buffer. */
  public RowBuffer() {}

  /** Adds an update. */
  public void add(byte[] row, int offset, int length, long time, long diff) {
    throw new UnsupportedOperationException();
  }

  /** How many updates were added. */
  public int size() {
    throw new UnsupportedOperationException();
  }

  /** The memory held. */
  public long memoryBytes() {
    throw new UnsupportedOperationException();
  }

  /**
   * The updates sorted by row, then time, equal ones summed, sums of zero left out. The buffer must
   * not be added to while the cursor is used.
   */
  public UpdateCursor sorted() {
    throw new UnsupportedOperationException();
  }

  /** Forgets all updates and keeps a page. */
  public void clear() {
    throw new UnsupportedOperationException();
  }
}
