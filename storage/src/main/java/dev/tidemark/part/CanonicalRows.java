package dev.tidemark.part;

import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import java.util.Arrays;

/**
 * The canonical encoding of updates, one after another: the row's length (varint), the row, its
 * time less the time before it (the first: less 0; wrapping at 64 bits; zigzag varint), its diff
 * (zigzag varint). What checksums of parts are of.
 */
final class CanonicalRows {
  private byte[] bytes;
  private int length;
  private long lastTime;

  CanonicalRows(int capacity) {
    bytes = new byte[capacity];
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Forgets the bytes, not the last time. */
  void drain() {
    length = 0;
  }

  void add(byte[] row, int offset, int size, long time, long diff) throws IOException {
    long needed = (long) length + size + 3 * Varint.MAX_BYTES;
    if (needed > bytes.length) {
      if (needed > Integer.MAX_VALUE - 64) {
        throw new IOException("the rows of one block exceed 2 GiB");
      }
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.min(Integer.MAX_VALUE - 64, Math.max(needed, bytes.length * 2L)));
    }
    int at = Varint.put(bytes, length, size);
    System.arraycopy(row, offset, bytes, at, size);
    at = Varint.putSigned(bytes, at + size, time - lastTime);
    length = Varint.putSigned(bytes, at, diff);
    lastTime = time;
  }

  /** Reads the encoding back; anything else is an IOException. */
  static final class Cursor implements UpdateCursor {
    private final byte[] bytes;
    private final Varint in;
    private long left;
    private int rowOffset;
    private int rowLength;
    private long time;
    private long diff;

    Cursor(byte[] bytes, int length, long count) {
      this.bytes = bytes;
      this.in = new Varint(bytes, 0, length);
      this.left = count;
    }

    @Override
    public boolean next() throws IOException {
      if (left == 0) {
        if (in.left() != 0) {
          throw RowBlock.corrupt("it has more rows than it says");
        }
        return false;
      }
      left--;
      long size = in.take();
      if (size < 0 || size > in.left()) {
        throw RowBlock.corrupt("a row ends behind it");
      }
      rowOffset = in.position();
      rowLength = (int) size;
      in.skip(rowLength);
      time += in.takeSigned();
      diff = in.takeSigned();
      if (diff == 0) {
        throw RowBlock.corrupt("a diff is 0");
      }
      return true;
    }

    @Override
    public byte[] row() {
      return bytes;
    }

    @Override
    public int rowOffset() {
      return rowOffset;
    }

    @Override
    public int rowLength() {
      return rowLength;
    }

    @Override
    public long time() {
      return time;
    }

    @Override
    public long diff() {
      return diff;
    }
  }
}
