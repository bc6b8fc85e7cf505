package dev.tidemark.row;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Holds updates in pages of bytes and gives them back sorted and consolidated: LSD radix sort on an
 * 8-byte prefix, full comparison only where prefixes are equal. Not thread-safe.
 *
 * <p>A page begins at {@link #FIRST_PAGE_BYTES}, since there are many buffers and most stay small;
 * each next page is twice as large up to {@link #PAGE_BYTES}; a row that is larger gets its own.
 * Beside the pages stands one prefix and one address an update.
 */
public final class RowBuffer {
  private static final int FIRST_PAGE_BYTES = 8 << 10;
  private static final int PAGE_BYTES = 1 << 20;
  private static final int FIRST_INDEX = 64;
  private static final int NEAR_ROWS = 16;
  private static final int NEAR_BYTES = 192;

  /** Before each row: its length, its time, its diff. */
  private static final int HEADER_BYTES = 20;

  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final List<byte[]> pages = new ArrayList<>();
  private byte[] page = new byte[FIRST_PAGE_BYTES];
  private int position;
  private long pageBytes = FIRST_PAGE_BYTES;

  private long[] prefixes = new long[FIRST_INDEX];
  private long[] addresses = new long[FIRST_INDEX];
  private int size;

  /** How many bytes at the beginning of a row its prefix leaves out, equal in all rows. */
  private int skip = 1;

  private int leadingByte = -1;
  private boolean leadingBytesDiffer;
  private boolean sorted;

  /** An empty buffer. */
  public RowBuffer() {
    pages.add(page);
  }

  /** Adds an update. */
  public void add(byte[] row, int offset, int length, long time, long diff) {
    if (sorted) {
      restoreSkip();
    }
    int needed = HEADER_BYTES + length;
    if (needed < 0) {
      throw new IllegalArgumentException("a row may not exceed 2 GiB");
    }
    if (needed > page.length - position) {
      newPage(needed);
    }
    int at = position;
    INTS.set(page, at, length);
    LONGS.set(page, at + 4, time);
    LONGS.set(page, at + 12, diff);
    System.arraycopy(row, offset, page, at + HEADER_BYTES, length);
    position = at + needed;

    int lead = length == 0 ? 0 : row[offset] & 0xFF;
    if (size == 0) {
      leadingByte = lead;
    } else if (lead != leadingByte) {
      leadingBytesDiffer = true;
    }
    if (size == prefixes.length) {
      int capacity = (int) Math.min(Integer.MAX_VALUE - 16, size + (long) size / 2 + 1);
      prefixes = Arrays.copyOf(prefixes, capacity);
      addresses = Arrays.copyOf(addresses, capacity);
    }
    prefixes[size] = Memcomparable.prefix(row, offset + 1, offset + length);
    addresses[size] = (long) (pages.size() - 1) << 32 | at;
    size++;
  }

  private void newPage(int needed) {
    int capacity = Math.max(needed, Math.min(PAGE_BYTES, page.length * 2));
    page = new byte[capacity];
    pages.add(page);
    pageBytes += capacity;
    position = 0;
  }

  /** How many updates were added. */
  public int size() {
    return size;
  }

  /** The memory held. */
  public long memoryBytes() {
    return pageBytes + 16L * prefixes.length;
  }

  /**
   * The updates sorted by row, then time, equal ones summed, sums of zero left out. The buffer must
   * not be added to while the cursor is used. A sum beyond 64 bits is an IOException of the cursor.
   */
  public UpdateCursor sorted() {
    if (size > 1) {
      RowSort sort = new RowSort(this, prefixes, addresses, size);
      if (leadingBytesDiffer) {
        setSkip(0);
      } else {
        int common = sort.constantLeadingBytes();
        if (common > 0) {
          setSkip(commonLength(skip + common));
        }
      }
      sort.sort(skip + 8);
    }
    sorted = true;
    return new Sorted();
  }

  /** The length of the beginning that all rows share; they are known to share {@code known}. */
  private int commonLength(int known) {
    byte[] first = page(addresses[0]);
    int from = rowOffset(addresses[0]);
    int common = rowLength(first, addresses[0]);
    for (int i = 1; i < size && common > known; i++) {
      byte[] other = page(addresses[i]);
      int at = rowOffset(addresses[i]);
      int length = Math.min(common, rowLength(other, addresses[i]));
      int mismatch = Arrays.mismatch(first, from, from + length, other, at, at + length);
      common = mismatch < 0 ? length : mismatch;
    }
    return common;
  }

  private void setSkip(int value) {
    if (skip != value) {
      skip = value;
      for (int i = 0; i < size; i++) {
        byte[] bytes = page(addresses[i]);
        int at = rowOffset(addresses[i]);
        prefixes[i] = Memcomparable.prefix(bytes, at + skip, at + rowLength(bytes, addresses[i]));
      }
    }
  }

  private void restoreSkip() {
    setSkip(1);
    sorted = false;
  }

  /** Forgets all updates and keeps a page. */
  public void clear() {
    if (pages.size() > 1 || page.length > PAGE_BYTES) {
      byte[] kept = new byte[0];
      for (byte[] candidate : pages) {
        if (candidate.length > kept.length && candidate.length <= PAGE_BYTES) {
          kept = candidate;
        }
      }
      page = kept;
      pages.clear();
      pages.add(page);
      pageBytes = page.length;
    }
    if (prefixes.length > PAGE_BYTES / 16) {
      prefixes = new long[FIRST_INDEX];
      addresses = new long[FIRST_INDEX];
    }
    position = 0;
    size = 0;
    skip = 1;
    leadingBytesDiffer = false;
    sorted = false;
  }

  private byte[] page(long address) {
    return pages.get((int) (address >>> 32));
  }

  private static int rowOffset(long address) {
    return (int) address + HEADER_BYTES;
  }

  private static int rowLength(byte[] page, long address) {
    return (int) INTS.get(page, (int) address);
  }

  private static long time(byte[] page, long address) {
    return (long) LONGS.get(page, (int) address + 4);
  }

  private static long diff(byte[] page, long address) {
    return (long) LONGS.get(page, (int) address + 12);
  }

  /** The order of two updates by row, then time; rows are known to share {@code known} bytes. */
  int compare(long a, long b, int known) {
    int order = compareRows(a, b, known);
    return order != 0 ? order : Long.compare(time(page(a), a), time(page(b), b));
  }

  private int compareRows(long a, long b, int known) {
    byte[] left = page(a);
    byte[] right = page(b);
    int leftOffset = rowOffset(a);
    int rightOffset = rowOffset(b);
    int leftLength = rowLength(left, a);
    int rightLength = rowLength(right, b);
    // A prefix past a row's end was filled with zeros, so it says nothing there.
    int from = Math.min(known, Math.min(leftLength, rightLength));
    return Arrays.compareUnsigned(
        left,
        leftOffset + from,
        leftOffset + leftLength,
        right,
        rightOffset + from,
        rightOffset + rightLength);
  }

  private final class Sorted implements UpdateCursor {
    private int next;
    private byte[] bytes = page;
    private long address;
    private long diff;
    private int near;

    /** Written only, lest the reads be optimised away. */
    @SuppressWarnings("UnusedVariable")
    private int touched;

    @Override
    public boolean next() throws IOException {
      while (next < size) {
        if (next >= near) {
          bringNear();
        }
        int first = next++;
        address = addresses[first];
        bytes = page(address);
        diff = RowBuffer.diff(bytes, address);
        while (next < size
            && prefixes[next] == prefixes[first]
            && compare(address, addresses[next], skip + 8) == 0) {
          diff = Sums.add(diff, RowBuffer.diff(page(addresses[next]), addresses[next]));
          next++;
        }
        if (diff != 0) {
          return true;
        }
      }
      return false;
    }

    /**
     * Reads a byte of each cache line of the next few rows: they lie anywhere, and waiting for many
     * lines at once takes hardly longer than for one. Halves the time of what walks the rows.
     */
    private void bringNear() {
      near = Math.min(size, next + NEAR_ROWS);
      int sum = 0;
      for (int i = next; i < near; i++) {
        byte[] lines = page(addresses[i]);
        int from = (int) addresses[i];
        int to = Math.min(lines.length, from + NEAR_BYTES);
        for (int at = from; at < to; at += 64) {
          sum += lines[at];
        }
      }
      touched = sum;
    }

    @Override
    public byte[] row() {
      return bytes;
    }

    @Override
    public int rowOffset() {
      return RowBuffer.rowOffset(address);
    }

    @Override
    public int rowLength() {
      return RowBuffer.rowLength(bytes, address);
    }

    @Override
    public long time() {
      return RowBuffer.time(bytes, address);
    }

    @Override
    public long diff() {
      return diff;
    }
  }
}
