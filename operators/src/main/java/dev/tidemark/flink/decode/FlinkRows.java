package dev.tidemark.flink.decode;

import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.binary.BinaryStringData;
import org.apache.flink.table.types.logical.LogicalType;
import org.jspecify.annotations.Nullable;

/** Rows of Flink's tables as values of a shard's. */
final class FlinkRows {
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final List<ColumnType> types;
  private final List<LogicalType> flink;
  private final RowData.FieldGetter[] getters;

  /** Of rows of a schema, in the form of {@link FlinkFormats#dataType}. */
  FlinkRows(Schema schema) {
    types = schema.columns().stream().map(column -> column.type()).toList();
    flink = FlinkFormats.dataType(schema).getLogicalType().getChildren();
    getters = new RowData.FieldGetter[types.size()];
    for (int i = 0; i < getters.length; i++) {
      getters[i] = RowData.createFieldGetter(flink.get(i), i);
    }
  }

  /**
   * The values in schema order.
   *
   * @throws InvalidRowException when one is none of Java's
   */
  @Nullable Object[] values(RowData row) throws InvalidRowException {
    @Nullable Object[] values = new @Nullable Object[getters.length];
    try {
      for (int i = 0; i < values.length; i++) {
        values[i] = value(types.get(i), flink.get(i), getters[i].getFieldOrNull(row));
      }
    } catch (DateTimeException | ArithmeticException e) {
      throw new InvalidRowException("a time out of range");
    }
    return values;
  }

  private static List<@Nullable Object> values(
      RowData row, List<ColumnType> types, List<LogicalType> flink) {
    List<@Nullable Object> values = new ArrayList<>(types.size());
    for (int i = 0; i < types.size(); i++) {
      Object field = RowData.createFieldGetter(flink.get(i), i).getFieldOrNull(row);
      values.add(value(types.get(i), flink.get(i), field));
    }
    return values;
  }

  private static @Nullable Object value(ColumnType type, LogicalType flink, @Nullable Object in) {
    if (in == null) {
      return null;
    }
    return switch (type.kind()) {
      case BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, BINARY, VARBINARY -> in;
      case DECIMAL -> ((DecimalData) in).toBigDecimal();
      case CHAR, VARCHAR -> text((StringData) in);
      case DATE -> LocalDate.ofEpochDay((int) (Integer) in);
      case TIME -> LocalTime.ofNanoOfDay((Integer) in * NANOS_PER_MILLI);
      case TIMESTAMP -> ((TimestampData) in).toLocalDateTime();
      case TIMESTAMP_LTZ -> ((TimestampData) in).toInstant();
      case ARRAY -> array(type.children().get(0), flink.getChildren().get(0), (ArrayData) in);
      case MAP -> {
        MapData map = (MapData) in;
        List<@Nullable Object> keys =
            array(type.children().get(0), flink.getChildren().get(0), map.keyArray());
        List<@Nullable Object> values =
            array(type.children().get(1), flink.getChildren().get(1), map.valueArray());
        Map<@Nullable Object, @Nullable Object> entries = new LinkedHashMap<>();
        for (int i = 0; i < keys.size(); i++) {
          entries.put(keys.get(i), values.get(i));
        }
        yield entries;
      }
      case ROW -> values((RowData) in, type.children(), flink.getChildren());
    };
  }

  /** Its text; Flink's own way goes char by char. */
  private static String text(StringData in) {
    boolean hasBytes = in instanceof BinaryStringData binary && binary.getJavaObject() == null;
    return hasBytes ? new String(in.toBytes(), StandardCharsets.UTF_8) : in.toString();
  }

  private static List<@Nullable Object> array(ColumnType type, LogicalType flink, ArrayData array) {
    ArrayData.ElementGetter getter = ArrayData.createElementGetter(flink);
    List<@Nullable Object> values = new ArrayList<>(array.size());
    for (int i = 0; i < array.size(); i++) {
      values.add(value(type, flink, getter.getElementOrNull(array, i)));
    }
    return values;
  }
}
