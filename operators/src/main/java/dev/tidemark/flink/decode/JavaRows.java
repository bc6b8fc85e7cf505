package dev.tidemark.flink.decode;

import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * Rows from Flink's {@link Row}, whose fields are Java's own classes: those that Flink's Table API
 * converts its types to by default. By name where a row has names, what is absent being NULL, else
 * by position. An integer of another width will do where it fits; nothing else is converted.
 */
final class JavaRows {
  private JavaRows() {}

  /**
   * A row's values in schema order.
   *
   * @throws InvalidRowException naming the column and what is wrong with it
   */
  static @Nullable Object[] values(Schema schema, Row row) throws InvalidRowException {
    int width = schema.columns().size();
    Set<String> names = row.getFieldNames(true);
    if (names == null && row.getArity() != width) {
      throw new InvalidRowException(
          "a row of " + row.getArity() + " fields for " + width + " columns");
    }
    @Nullable Object[] values = new @Nullable Object[width];
    for (int i = 0; i < width; i++) {
      Column column = schema.columns().get(i);
      Object field =
          names == null
              ? row.getField(i)
              : names.contains(column.name()) ? row.getField(column.name()) : null;
      values[i] = value("column " + column.name(), column.type(), field);
    }
    return values;
  }

  private static @Nullable Object value(String where, ColumnType type, @Nullable Object value)
      throws InvalidRowException {
    if (value == null) {
      if (!type.nullable()) {
        throw new InvalidRowException(where + ": NULL, but it is NOT NULL");
      }
      return null;
    }
    return switch (type.kind()) {
      case BOOLEAN -> as(Boolean.class, where, type, value);
      case TINYINT -> (byte) integer(where, type, value, Byte.MIN_VALUE, Byte.MAX_VALUE);
      case SMALLINT -> (short) integer(where, type, value, Short.MIN_VALUE, Short.MAX_VALUE);
      case INT -> (int) integer(where, type, value, Integer.MIN_VALUE, Integer.MAX_VALUE);
      case BIGINT -> integer(where, type, value, Long.MIN_VALUE, Long.MAX_VALUE);
      case FLOAT -> as(Float.class, where, type, value);
      case DOUBLE -> as(Double.class, where, type, value);
      case DECIMAL -> decimal(where, type, value);
      case CHAR, VARCHAR -> text(where, type, value);
      case BINARY, VARBINARY -> as(byte[].class, where, type, value);
      case DATE -> as(LocalDate.class, where, type, value);
      case TIME -> as(LocalTime.class, where, type, value);
      case TIMESTAMP -> as(LocalDateTime.class, where, type, value);
      case TIMESTAMP_LTZ -> as(Instant.class, where, type, value);
      case ARRAY -> array(where, type, value);
      case MAP -> map(where, type, value);
      case ROW -> row(where, type, value);
    };
  }

  private static <T> T as(Class<T> wanted, String where, ColumnType type, Object value)
      throws InvalidRowException {
    if (!wanted.isInstance(value)) {
      throw unfit(where, type, value, wanted.getSimpleName());
    }
    return wanted.cast(value);
  }

  private static InvalidRowException unfit(
      String where, ColumnType type, Object value, String wanted) {
    return new InvalidRowException(
        where
            + ": a "
            + value.getClass().getSimpleName()
            + ", but "
            + type.kind()
            + " takes "
            + wanted);
  }

  private static long integer(String where, ColumnType type, Object value, long min, long max)
      throws InvalidRowException {
    if (!(value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte)) {
      throw unfit(where, type, value, "an integer");
    }
    long number = ((Number) value).longValue();
    if (number < min || number > max) {
      throw new InvalidRowException(where + ": number out of the range of " + type.kind());
    }
    return number;
  }

  private static Object decimal(String where, ColumnType type, Object value)
      throws InvalidRowException {
    try {
      return Values.fit(as(BigDecimal.class, where, type, value), type, false);
    } catch (InvalidRowException e) {
      throw named(where, e);
    }
  }

  private static Object text(String where, ColumnType type, Object value)
      throws InvalidRowException {
    try {
      return Values.checkSurrogates(as(String.class, where, type, value));
    } catch (InvalidRowException e) {
      throw named(where, e);
    }
  }

  private static InvalidRowException named(String where, InvalidRowException e) {
    String reason = String.valueOf(e.getMessage());
    return reason.startsWith(where) ? e : new InvalidRowException(where + ": " + reason);
  }

  /** Arrays of objects or of primitives, and lists. */
  private static Object array(String where, ColumnType type, Object value)
      throws InvalidRowException {
    List<@Nullable Object> elements = new ArrayList<>();
    if (value instanceof List<?> list) {
      elements.addAll(list);
    } else if (value.getClass().isArray()) {
      for (int i = 0; i < Array.getLength(value); i++) {
        elements.add(Array.get(value, i));
      }
    } else {
      throw unfit(where, type, value, "an array or a List");
    }
    List<@Nullable Object> values = new ArrayList<>(elements.size());
    for (Object element : elements) {
      values.add(value(where + ": element", type.children().get(0), element));
    }
    return values;
  }

  private static Object map(String where, ColumnType type, Object value)
      throws InvalidRowException {
    Map<@Nullable Object, @Nullable Object> values = new LinkedHashMap<>();
    Map<?, ?> map = as(Map.class, where, type, value);
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      values.put(
          value(where + ": key", type.children().get(0), entry.getKey()),
          value(where + ": value", type.children().get(1), entry.getValue()));
    }
    return values;
  }

  private static Object row(String where, ColumnType type, Object value)
      throws InvalidRowException {
    Row row = as(Row.class, where, type, value);
    Set<String> names = row.getFieldNames(true);
    int width = type.children().size();
    if (names == null && row.getArity() != width) {
      throw new InvalidRowException(
          where + ": a row of " + row.getArity() + " fields for " + width);
    }
    List<@Nullable Object> values = new ArrayList<>(width);
    for (int i = 0; i < width; i++) {
      String name = type.fieldNames().get(i);
      Object field =
          names == null ? row.getField(i) : names.contains(name) ? row.getField(name) : null;
      values.add(value(where + "." + name, type.children().get(i), field));
    }
    return values;
  }
}
