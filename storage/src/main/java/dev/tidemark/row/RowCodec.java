package dev.tidemark.row;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Turns rows into bytes that compare (unsigned, lexicographically) as the rows do, and back: the
 * key's columns first in key order, then the others in schema order. Two rows are equal exactly
 * when their bytes are. {@link Memcomparable} has the form of each value. Thread-safe.
 *
 * <p>Values are Boolean; Byte, Short, Integer, Long (any of them for any integer type, if in
 * range); Float, Double; BigDecimal; String (CHAR, VARCHAR); byte[] (BINARY, VARBINARY); LocalDate;
 * LocalTime; LocalDateTime (TIMESTAMP); Instant (TIMESTAMP_LTZ); List (ARRAY); Map (MAP); List
 * (ROW, its fields in order); or null. What {@link #decode} gives is of the declared type's own
 * class, with -0.0 as 0.0, every NaN as the canonical one, decimals at the declared scale.
 *
 * <p>Nothing is made to fit: a decimal or time finer than declared, a string too long, half a
 * surrogate pair, a map with a NULL key or equal keys (0.0 and -0.0) is refused.
 */
public final class RowCodec {
  /** What a time and a diff count as, beside a row's columns. */
  private static final int TIME_AND_DIFF_BYTES = 16;

  private final Schema schema;
  private final FieldCodec[] fields;
  private final int[] order;
  private final int keyFields;
  private volatile int expectedLength = 64;

  /**
   * For rows of this schema.
   *
   * @throws IllegalArgumentException when the key names a column that isn't there
   */
  public RowCodec(Schema schema) {
    this.schema = schema;
    this.order = order(schema);
    this.keyFields = schema.key().size();
    this.fields = new FieldCodec[order.length];
    for (int i = 0; i < order.length; i++) {
      Column column = schema.columns().get(order[i]);
      fields[i] = FieldCodec.of(column.name(), column.type());
    }
  }

  /** The places of the schema's columns in the order in which an encoded row holds them. */
  public static int[] order(Schema schema) {
    int size = schema.columns().size();
    int[] order = new int[size];
    boolean[] taken = new boolean[size];
    int next = 0;
    for (String name : schema.key()) {
      int at = indexOf(schema, name);
      if (at < 0 || taken[at]) {
        throw new IllegalArgumentException(
            "the key names " + name + (at < 0 ? ", which is no column" : " twice"));
      }
      taken[at] = true;
      order[next++] = at;
    }
    for (int i = 0; i < size; i++) {
      if (!taken[i]) {
        order[next++] = i;
      }
    }
    return order;
  }

  private static int indexOf(Schema schema, String name) {
    for (int i = 0; i < schema.columns().size(); i++) {
      if (schema.columns().get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
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
    if (values.length != fields.length) {
      throw new InvalidRowException(
          "the row has " + values.length + " columns, the schema " + fields.length);
    }
    RowEncoder out = new RowEncoder(expectedLength);
    for (int i = 0; i < fields.length; i++) {
      fields[i].encode(values[order[i]], out);
    }
    int length = out.length();
    if (length > expectedLength && length <= 4096) {
      expectedLength = length + 16;
    }
    return out.toRow();
  }

  /**
   * Decodes a row into schema order.
   *
   * @throws IllegalArgumentException when the bytes are no row of the schema
   */
  public @Nullable Object[] decode(byte[] bytes, int offset, int length) {
    RowInput in = new RowInput(bytes, offset, length);
    @Nullable Object[] values = new @Nullable Object[fields.length];
    try {
      for (int i = 0; i < fields.length; i++) {
        values[order[i]] = fields[i].decode(in);
      }
    } catch (IndexOutOfBoundsException e) {
      throw noRow(e);
    }
    if (in.position != in.limit) {
      throw noRow(null);
    }
    return values;
  }

  /** The length of the key's part of an encoded row; the whole length when there is no key. */
  public int keyLength(byte[] bytes, int offset, int length) {
    if (keyFields == 0) {
      return length;
    }
    RowInput in = new RowInput(bytes, offset, length);
    try {
      for (int i = 0; i < keyFields; i++) {
        fields[i].count(in);
      }
    } catch (IndexOutOfBoundsException e) {
      throw noRow(e);
    }
    return in.position - offset;
  }

  /**
   * The row bytes by which every rule and bound counts (docs/format.md), times and diff included.
   */
  public int countedBytes(byte[] bytes, int offset, int length) {
    RowInput in = new RowInput(bytes, offset, length);
    int counted = TIME_AND_DIFF_BYTES;
    try {
      for (FieldCodec field : fields) {
        counted += field.count(in);
      }
    } catch (IndexOutOfBoundsException e) {
      throw noRow(e);
    }
    if (in.position != in.limit) {
      throw noRow(null);
    }
    return counted;
  }

  private static IllegalArgumentException noRow(@Nullable Throwable cause) {
    return new IllegalArgumentException("the bytes are no row of this schema", cause);
  }
}
