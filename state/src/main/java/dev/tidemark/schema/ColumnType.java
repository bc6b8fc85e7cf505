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
}
