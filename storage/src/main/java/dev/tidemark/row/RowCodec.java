package dev.tidemark.row;

import dev.tidemark.schema.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Turns rows into bytes that compare (unsigned, lexicographically) as the rows do, and back: the
 * key's columns first in key order, then the others in schema order. Two rows are equal exactly
 * when their bytes are.
 *
 * <p>Values are Boolean, Byte, Short, Integer, Long, Float, Double, BigDecimal, String (CHAR,
 * VARCHAR), byte[] (BINARY, VARBINARY), LocalDate, LocalTime, LocalDateTime (TIMESTAMP), Instant
 * (TIMESTAMP_LTZ), List (ARRAY), Map (MAP), List (ROW, its fields in order), or null.
 */
public final class RowCodec {
  private final Schema schema;

  /** For rows of this schema. */
  public RowCodec(Schema schema) {
    this.schema = schema;
  }

  /** The schema. */
  public Schema schema() {
    return schema;
  }

  /**
   * Encodes a row given in schema order.
   *
   * @throws InvalidRowException naming column and value, when a value doesn't fit its column's
   *     declared type
   */
  public byte[] encode(@Nullable Object[] values) throws InvalidRowException {
    throw new UnsupportedOperationException();
  }

  /** Decodes a row into schema order. */
  public @Nullable Object[] decode(byte[] bytes, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  /** The length of the key's part of an encoded row; the whole length when there is no key. */
  public int keyLength(byte[] bytes, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  /**
   * The row bytes by which every rule and bound counts (docs/format.md), times and diff included.
   */
  public int countedBytes(byte[] bytes, int offset, int length) {
    throw new UnsupportedOperationException();
  }
}
