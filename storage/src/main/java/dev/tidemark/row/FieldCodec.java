package dev.tidemark.row;

import dev.tidemark.schema.ColumnType;
import org.jspecify.annotations.Nullable;

/** How the values of one column, element or field become bytes, and back. */
abstract class FieldCodec {
  /** What NULL counts as. */
  private static final int NULL_BYTES = 1;

  /** The most characters of a value that a message shows. */
  private static final int SHOWN_CHARS = 60;

  private final String path;
  private final ColumnType type;

  /**
   * With the names that lead to the field ({@code address.street}, {@code tags[]}), for messages.
   */
  FieldCodec(String path, ColumnType type) {
    this.path = path;
    this.type = type;
  }

  final void encode(@Nullable Object value, RowEncoder out) throws InvalidRowException {
    if (value != null) {
      encodeValue(value, out);
    } else if (type.nullable()) {
      out.addNull();
    } else {
      throw new InvalidRowException("column " + path + " is NOT NULL, the value is NULL");
    }
  }

  final @Nullable Object decode(RowInput in) {
    return in.take() == Memcomparable.NULL ? null : decodeValue(in);
  }

  /** Skips the field and gives its counted bytes. */
  final int count(RowInput in) {
    return in.take() == Memcomparable.NULL ? NULL_BYTES : countValue(in);
  }

  /** Adds marker and bytes of a value that isn't NULL. */
  abstract void encodeValue(Object value, RowEncoder out) throws InvalidRowException;

  /** Takes a value whose marker has been taken. */
  abstract Object decodeValue(RowInput in);

  /** Skips a value whose marker has been taken and gives its counted bytes. */
  abstract int countValue(RowInput in);

  final ColumnType type() {
    return type;
  }

  final String path() {
    return path;
  }

  /** The value is of a class that this type doesn't take. */
  final InvalidRowException wrongClass(Object value) {
    return misfit(value, "the value is a " + value.getClass().getSimpleName());
  }

  /** The value doesn't fit. */
  final InvalidRowException misfit(Object value, String reason) {
    String text = value instanceof byte[] b ? b.length + " bytes" : value.toString();
    if (text.length() > SHOWN_CHARS) {
      int cut = Character.isHighSurrogate(text.charAt(SHOWN_CHARS - 1)) ? 1 : 0;
      text = text.substring(0, SHOWN_CHARS - cut) + "...";
    }
    return new InvalidRowException(
        "column " + path + ", " + declared() + ", can't hold " + text + ": " + reason);
  }

  private String declared() {
    String name = type.kind().toString();
    return switch (type.kind()) {
      case DECIMAL -> name + "(" + type.precision() + ", " + type.scale() + ")";
      case CHAR, VARCHAR, BINARY, VARBINARY ->
          type.precision() == Integer.MAX_VALUE ? name : name + "(" + type.precision() + ")";
      case TIME, TIMESTAMP, TIMESTAMP_LTZ -> name + "(" + type.precision() + ")";
      case BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE, ARRAY, MAP, ROW -> name;
    };
  }

  static FieldCodec of(String path, ColumnType type) {
    return switch (type.kind()) {
      case BOOLEAN -> new NumberFields.BooleanField(path, type);
      case TINYINT -> new NumberFields.IntegerField(path, type, 1);
      case SMALLINT -> new NumberFields.IntegerField(path, type, 2);
      case INT -> new NumberFields.IntegerField(path, type, 4);
      case BIGINT -> new NumberFields.IntegerField(path, type, 8);
      case FLOAT -> new NumberFields.FloatField(path, type);
      case DOUBLE -> new NumberFields.DoubleField(path, type);
      case DECIMAL -> new NumberFields.DecimalField(path, type);
      case CHAR, VARCHAR -> new BytesFields.TextField(path, type);
      case BINARY, VARBINARY -> new BytesFields.BinaryField(path, type);
      case DATE -> new TimeFields.DateField(path, type);
      case TIME -> new TimeFields.TimeField(path, type);
      case TIMESTAMP -> new TimeFields.TimestampField(path, type, false);
      case TIMESTAMP_LTZ -> new TimeFields.TimestampField(path, type, true);
      case ARRAY -> new NestedFields.ArrayField(path, type);
      case MAP -> new NestedFields.MapField(path, type);
      case ROW -> new NestedFields.RowField(path, type);
    };
  }
}
