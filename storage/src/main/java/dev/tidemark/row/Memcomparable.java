package dev.tidemark.row;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The bytes of an encoded row, on which alone its order rests: unsigned, lexicographic.
 *
 * <p>A value is one marker byte, then its bytes. The marker is {@link #NULL} or {@link #VALUE},
 * also where NULL is forbidden, so that a column may become nullable and no row changes. Then:
 *
 * <ul>
 *   <li>integers, dates and times: big-endian, sign bit flipped, in 1, 2, 4 or 8 bytes;
 *   <li>FLOAT, DOUBLE: their bits, sign bit flipped when positive, all bits when negative; -0.0 is
 *       stored as 0.0 and every NaN as the one NaN that comes last;
 *   <li>BOOLEAN: 0 or 1; DECIMAL: the unscaled value in 8 bytes (precision up to 18) or 16;
 *   <li>strings (UTF-8) and binaries: their bytes, 0x00 as 0x00 0xFF, then 0x00 0x00;
 *   <li>ARRAY: 0x01 before each element, 0x00 at the end; MAP likewise before each entry, entries
 *       in the order of their encoded keys; ROW: its fields one after another.
 * </ul>
 */
public final class Memcomparable {
  /** The marker of NULL. */
  public static final byte NULL = 0;

  /** The marker of a value. */
  public static final byte VALUE = 1;

  /** What comes before an element or entry. */
  public static final byte MORE = 1;

  /** What comes after the last element or entry. */
  public static final byte END = 0;

  /** What a zero byte inside a string is followed by; a terminating one by another zero. */
  static final byte ESCAPED = (byte) 0xFF;

  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;

  private Memcomparable() {}

  /** The order of two encoded rows. */
  public static int compare(
      byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
    return Arrays.compareUnsigned(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
  }

  /** Whether two encoded rows are the same row. */
  public static boolean equal(
      byte[] a, int aOffset, int aLength, byte[] b, int bOffset, int bLength) {
    return aLength == bLength
        && Arrays.equals(a, aOffset, aOffset + aLength, b, bOffset, bOffset + bLength);
  }

  /** The first zero byte in {@code [from, limit)}, or {@code limit}. */
  public static int zeroAt(byte[] bytes, int from, int limit) {
    return indexOf(bytes, from, limit, 0L);
  }

  /** The first '?' in the array, or its length. */
  static int questionMarkAt(byte[] bytes) {
    return indexOf(bytes, 0, bytes.length, ONES * '?');
  }

  private static int indexOf(byte[] bytes, int from, int limit, long pattern) {
    int i = from;
    for (; i + 8 <= limit; i += 8) {
      long word = (long) WORDS.get(bytes, i) ^ pattern;
      long zeros = (word - ONES) & ~word & HIGHS;
      if (zeros != 0) {
        return i + (Long.numberOfTrailingZeros(zeros) >>> 3);
      }
    }
    byte wanted = (byte) pattern;
    while (i < limit && bytes[i] != wanted) {
      i++;
    }
    return i;
  }

  /** Whether the zero byte at this place ends its string. */
  public static boolean endsAt(byte[] bytes, int zero) {
    return bytes[zero + 1] == 0;
  }

  /** Eight bytes from {@code offset} on as an unsigned number, zeros past {@code limit}. */
  static long prefix(byte[] bytes, int offset, int limit) {
    if (offset + 8 <= limit) {
      return (long) LONGS.get(bytes, offset);
    }
    long word = 0;
    for (int i = 0; i < 8; i++) {
      word = word << 8 | (offset + i < limit ? bytes[offset + i] & 0xFF : 0);
    }
    return word;
  }

  /** The 2-byte integer at a place. */
  public static short shortAt(byte[] bytes, int offset) {
    return (short) ((short) SHORTS.get(bytes, offset) ^ Short.MIN_VALUE);
  }

  /** The 4-byte integer at a place. */
  public static int intAt(byte[] bytes, int offset) {
    return (int) INTS.get(bytes, offset) ^ Integer.MIN_VALUE;
  }

  /** The 8-byte integer at a place. */
  public static long longAt(byte[] bytes, int offset) {
    return (long) LONGS.get(bytes, offset) ^ Long.MIN_VALUE;
  }

  /** The 8 bytes at a place as they are. */
  public static long rawLongAt(byte[] bytes, int offset) {
    return (long) LONGS.get(bytes, offset);
  }

  /** The bits of the FLOAT at a place. */
  public static int floatBitsAt(byte[] bytes, int offset) {
    int bits = (int) INTS.get(bytes, offset);
    return bits < 0 ? bits ^ Integer.MIN_VALUE : ~bits;
  }

  /** The bits of the DOUBLE at a place. */
  public static long doubleBitsAt(byte[] bytes, int offset) {
    long bits = (long) LONGS.get(bytes, offset);
    return bits < 0 ? bits ^ Long.MIN_VALUE : ~bits;
  }

  static void putShort(byte[] bytes, int offset, short value) {
    SHORTS.set(bytes, offset, value);
  }

  static void putInt(byte[] bytes, int offset, int value) {
    INTS.set(bytes, offset, value);
  }

  static void putLong(byte[] bytes, int offset, long value) {
    LONGS.set(bytes, offset, value);
  }
}
