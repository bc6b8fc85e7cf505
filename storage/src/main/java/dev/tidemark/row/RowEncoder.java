package dev.tidemark.row;

import java.util.Arrays;

/**
 * Puts a row together from primitive values, without boxing: the low-level way beside {@link
 * RowCodec#encode}. Values are added in the order of the encoded row ({@link RowCodec#order}); that
 * they match the schema is the caller's business, nothing is checked. Reusable; not thread-safe.
 */
public final class RowEncoder {
  private byte[] bytes;
  private int length;

  /** An empty row. */
  public RowEncoder() {
    this(256);
  }

  /** An empty row in an array of at least this size. */
  public RowEncoder(int capacity) {
    bytes = new byte[Math.max(16, capacity)];
  }

  /** Begins a new row. */
  public RowEncoder reset() {
    length = 0;
    return this;
  }

  /** The array that holds the row, from 0 on; replaced when it grows. */
  public byte[] bytes() {
    return bytes;
  }

  /** How long the row is so far. */
  public int length() {
    return length;
  }

  /** A copy of the row. */
  public byte[] toRow() {
    return Arrays.copyOf(bytes, length);
  }

  /** NULL, of any type. */
  public RowEncoder addNull() {
    return addRaw(Memcomparable.NULL);
  }

  /** A BOOLEAN. */
  public RowEncoder addBoolean(boolean value) {
    reserve(2);
    bytes[length] = Memcomparable.VALUE;
    bytes[length + 1] = (byte) (value ? 1 : 0);
    length += 2;
    return this;
  }

  /** A TINYINT. */
  public RowEncoder addTinyint(byte value) {
    reserve(2);
    bytes[length] = Memcomparable.VALUE;
    bytes[length + 1] = (byte) (value ^ 0x80);
    length += 2;
    return this;
  }

  /** A SMALLINT. */
  public RowEncoder addSmallint(short value) {
    reserve(3);
    bytes[length] = Memcomparable.VALUE;
    Memcomparable.putShort(bytes, length + 1, (short) (value ^ Short.MIN_VALUE));
    length += 3;
    return this;
  }

  /** An INT, a DATE in days or a TIME in milliseconds. */
  public RowEncoder addInt(int value) {
    return addInt4(value ^ Integer.MIN_VALUE);
  }

  /** A BIGINT, a timestamp in its unit, or the unscaled DECIMAL of precision up to 18. */
  public RowEncoder addLong(long value) {
    return addLong8(value ^ Long.MIN_VALUE);
  }

  /** The unscaled DECIMAL of precision above 18, in 128 bits. */
  public RowEncoder addDecimal(long high, long low) {
    addLong8(high ^ Long.MIN_VALUE);
    reserve(8);
    Memcomparable.putLong(bytes, length, low);
    length += 8;
    return this;
  }

  /** A FLOAT. */
  public RowEncoder addFloat(float value) {
    int bits = value == 0f ? 0 : Float.floatToIntBits(value);
    return addInt4(bits < 0 ? ~bits : bits ^ Integer.MIN_VALUE);
  }

  /** A DOUBLE. */
  public RowEncoder addDouble(double value) {
    long bits = value == 0d ? 0 : Double.doubleToLongBits(value);
    return addLong8(bits < 0 ? ~bits : bits ^ Long.MIN_VALUE);
  }

  /** A binary, or a string in valid UTF-8. */
  public RowEncoder addBytes(byte[] value, int offset, int size) {
    reserve(size + 3L);
    bytes[length++] = Memcomparable.VALUE;
    int limit = offset + size;
    int from = offset;
    for (int zero = Memcomparable.zeroAt(value, from, limit);
        zero < limit;
        zero = Memcomparable.zeroAt(value, from, limit)) {
      int run = zero + 1 - from;
      reserve(limit - from + 4L);
      System.arraycopy(value, from, bytes, length, run);
      length += run;
      bytes[length++] = Memcomparable.ESCAPED;
      from = zero + 1;
    }
    reserve(limit - from + 2L);
    System.arraycopy(value, from, bytes, length, limit - from);
    length += limit - from;
    bytes[length++] = 0;
    bytes[length++] = 0;
    return this;
  }

  /** One byte of structure: the marker of an ARRAY, MAP or ROW, MORE or END. */
  public RowEncoder addRaw(byte value) {
    reserve(1);
    bytes[length++] = value;
    return this;
  }

  /** Encoded bytes as they are. */
  RowEncoder addEncoded(byte[] encoded, int offset, int size) {
    reserve(size);
    System.arraycopy(encoded, offset, bytes, length, size);
    length += size;
    return this;
  }

  private RowEncoder addInt4(int ordered) {
    reserve(5);
    bytes[length] = Memcomparable.VALUE;
    Memcomparable.putInt(bytes, length + 1, ordered);
    length += 5;
    return this;
  }

  private RowEncoder addLong8(long ordered) {
    reserve(9);
    bytes[length] = Memcomparable.VALUE;
    Memcomparable.putLong(bytes, length + 1, ordered);
    length += 9;
    return this;
  }

  private void reserve(long more) {
    if (more > bytes.length - length) {
      grow(more);
    }
  }

  private void grow(long more) {
    long needed = length + more;
    if (needed > Integer.MAX_VALUE - 16) {
      throw new IllegalArgumentException("a row may not exceed 2 GiB");
    }
    bytes =
        Arrays.copyOf(
            bytes, (int) Math.min(Integer.MAX_VALUE - 16, Math.max(needed, bytes.length * 2L)));
  }
}
