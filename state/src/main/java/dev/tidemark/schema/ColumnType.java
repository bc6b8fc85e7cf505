package dev.tidemark.schema;

import java.io.Serializable;
import java.util.List;

/**
 * A declared column type. Field use by kind: {@code precision} for CHAR, VARCHAR, BINARY, VARBINARY
 * (length; {@code Integer.MAX_VALUE} = unbounded), DECIMAL, TIME, TIMESTAMP, TIMESTAMP_LTZ; {@code
 * scale} for DECIMAL; {@code children} for ARRAY (element), MAP (key, value) and ROW (fields, named
 * by {@code fieldNames}).
 *
 * @param kind what it is
 * @param nullable whether NULL is a value
 * @param precision length or precision, 0 where the kind has none
 * @param scale digits behind the point, 0 where the kind has none
 * @param children the types inside
 * @param fieldNames the names of a ROW's fields, else empty
 */
public record ColumnType(
    Kind kind,
    boolean nullable,
    int precision,
    int scale,
    List<ColumnType> children,
    List<String> fieldNames)
    implements Serializable {

  /** The kinds of types that a shard can hold. */
  public enum Kind {
    BOOLEAN,
    TINYINT,
    SMALLINT,
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    DECIMAL,
    CHAR,
    VARCHAR,
    BINARY,
    VARBINARY,
    DATE,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    ARRAY,
    MAP,
    ROW
  }

  /** Copies the lists. */
  public ColumnType {
    children = List.copyOf(children);
    fieldNames = List.copyOf(fieldNames);
  }

  /** A type without parameters or children. */
  public static ColumnType of(Kind kind, boolean nullable) {
    return new ColumnType(kind, nullable, 0, 0, List.of(), List.of());
  }

  /** The same type with other nullability. */
  public ColumnType withNullable(boolean other) {
    return new ColumnType(kind, other, precision, scale, children, fieldNames);
  }

  /**
   * The type that a text declares, in the words of Flink SQL, such as {@code DECIMAL(10, 2) NOT
   * NULL}: the inverse of {@link #toString}.
   *
   * @throws IllegalArgumentException when a shard can't hold it; one line that says what to take
   */
  public static ColumnType parse(String text) {
    return SchemaParser.type(text);
  }

  /**
   * The one text of this type: {@code STRING} and {@code BYTES} for the unbounded, precisions
   * always written, {@code NOT NULL} behind it when NULL isn't a value.
   */
  @Override
  public String toString() {
    return nullable ? bare() : bare() + " NOT NULL";
  }

  private String bare() {
    return switch (kind) {
      case BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE -> kind.name();
      case DECIMAL -> "DECIMAL(" + precision + ", " + scale + ")";
      case VARCHAR -> precision == Integer.MAX_VALUE ? "STRING" : "VARCHAR(" + precision + ")";
      case VARBINARY -> precision == Integer.MAX_VALUE ? "BYTES" : "VARBINARY(" + precision + ")";
      case CHAR, BINARY, TIME, TIMESTAMP, TIMESTAMP_LTZ -> kind.name() + "(" + precision + ")";
      case ARRAY -> "ARRAY<" + children.get(0) + ">";
      case MAP -> "MAP<" + children.get(0) + ", " + children.get(1) + ">";
      case ROW -> row();
    };
  }

  private String row() {
    StringBuilder text = new StringBuilder("ROW<");
    for (int i = 0; i < children.size(); i++) {
      text.append(i == 0 ? "" : ", ");
      text.append(Schema.quoted(fieldNames.get(i))).append(' ').append(children.get(i));
    }
    return text.append('>').toString();
  }
}
