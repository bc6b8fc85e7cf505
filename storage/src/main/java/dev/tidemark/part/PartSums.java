package dev.tidemark.part;

import dev.tidemark.row.Memcomparable;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counts, sums and bounds of the updates of a part; checks their order on the way. */
final class PartSums {
  /** The most bytes of an encoded row that a bound keeps. */
  static final int BOUND_BYTES = 64;

  private long rows;
  private long bytes;
  private long sum;
  private long retracted;
  private long minTime = Long.MAX_VALUE;
  private long maxTime = Long.MIN_VALUE;
  private @Nullable String minKey;
  private byte[] last = new byte[256];
  private int lastLength;
  private long lastTime;

  long rows() {
    return rows;
  }

  long bytes() {
    return bytes;
  }

  long sum() {
    return sum;
  }

  /** Whether a row is the one added last. */
  boolean isLast(byte[] row, int offset, int length) {
    return rows > 0 && Memcomparable.equal(row, offset, length, last, 0, lastLength);
  }

  void add(byte[] row, int offset, int length, long time, long diff, long countedBytes)
      throws IOException {
    if (rows == 0) {
      minKey = lowerBound(row, offset, length);
    } else {
      int order = Memcomparable.compare(last, 0, lastLength, row, offset, length);
      if (order > 0 || (order == 0 && lastTime >= time)) {
        throw new IOException("the updates of a run are not in order, or not consolidated");
      }
    }
    if (length > last.length) {
      last = new byte[(int) Math.min(Integer.MAX_VALUE - 16L, length * 2L)];
    }
    System.arraycopy(row, offset, last, 0, length);
    lastLength = length;
    lastTime = time;
    rows++;
    bytes += countedBytes;
    if (diff < 0) {
      retracted += countedBytes;
    }
    long total = sum + diff;
    if (((sum ^ total) & (diff ^ total)) < 0) {
      throw new IOException("the diffs of a part add up to more than 64 bits hold");
    }
    sum = total;
    minTime = Math.min(minTime, time);
    maxTime = Math.max(maxTime, time);
  }

  Part part(PartLocation location) {
    return new Part(
        location, rows, bytes, sum, retracted, minKey, upperBound(), minTime, maxTime, Map.of());
  }

  /** A bound that no row from this one on is below. */
  static String lowerBound(byte[] row, int offset, int length) {
    return HexFormat.of().formatHex(row, offset, offset + Math.min(length, BOUND_BYTES));
  }

  /** A bound that no row so far is above: the last row, rounded up if it is long; or none. */
  @Nullable String upperBound() {
    if (lastLength <= BOUND_BYTES) {
      return HexFormat.of().formatHex(last, 0, lastLength);
    }
    byte[] bound = Arrays.copyOf(last, BOUND_BYTES);
    for (int i = BOUND_BYTES - 1; i >= 0; i--) {
      if (bound[i] != (byte) 0xFF) {
        bound[i]++;
        return HexFormat.of().formatHex(bound, 0, i + 1);
      }
    }
    return null;
  }
}
