package dev.tidemark.part;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.math.BigInteger;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/** The Parquet schema of a shard's schema: its columns in schema order, then time and diff. */
final class PartSchema {
  static final String TIME = "__time";
  static final String DIFF = "__diff";

  private PartSchema() {}

  static MessageType of(Schema schema) {
    Types.MessageTypeBuilder builder = Types.buildMessage();
    for (Column column : schema.columns()) {
      builder.addField(type(column.name(), column.type()).withId(column.id()));
    }
    return builder
        .required(PrimitiveTypeName.INT64)
        .named(TIME)
        .required(PrimitiveTypeName.INT64)
        .named(DIFF)
        .named("tidemark");
  }

  private static Type type(String name, ColumnType type) {
    Type.Repetition repetition =
        type.nullable() ? Type.Repetition.OPTIONAL : Type.Repetition.REQUIRED;
    return switch (type.kind()) {
      case BOOLEAN -> plain(repetition, PrimitiveTypeName.BOOLEAN, null, name);
      case TINYINT ->
          plain(repetition, PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(8, true), name);
      case SMALLINT ->
          plain(repetition, PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(16, true), name);
      case INT ->
          plain(repetition, PrimitiveTypeName.INT32, LogicalTypeAnnotation.intType(32, true), name);
      case BIGINT -> plain(repetition, PrimitiveTypeName.INT64, null, name);
      case FLOAT -> plain(repetition, PrimitiveTypeName.FLOAT, null, name);
      case DOUBLE -> plain(repetition, PrimitiveTypeName.DOUBLE, null, name);
      case DECIMAL -> decimal(repetition, type, name);
      case CHAR, VARCHAR ->
          plain(repetition, PrimitiveTypeName.BINARY, LogicalTypeAnnotation.stringType(), name);
      case BINARY, VARBINARY -> plain(repetition, PrimitiveTypeName.BINARY, null, name);
      case DATE ->
          plain(repetition, PrimitiveTypeName.INT32, LogicalTypeAnnotation.dateType(), name);
      case TIME ->
          plain(
              repetition,
              PrimitiveTypeName.INT32,
              LogicalTypeAnnotation.timeType(false, TimeUnit.MILLIS),
              name);
      case TIMESTAMP -> timestamp(repetition, false, type, name);
      case TIMESTAMP_LTZ -> timestamp(repetition, true, type, name);
      case ARRAY ->
          Types.list(repetition).element(type("element", type.children().get(0))).named(name);
      case MAP ->
          Types.map(repetition)
              .key(type("key", type.children().get(0).withNullable(false)))
              .value(type("value", type.children().get(1)))
              .named(name);
      case ROW -> {
        Types.GroupBuilder<org.apache.parquet.schema.GroupType> group =
            Types.buildGroup(repetition);
        for (int i = 0; i < type.children().size(); i++) {
          group.addField(type(type.fieldNames().get(i), type.children().get(i)));
        }
        yield group.named(name);
      }
    };
  }

  private static Type plain(
      Type.Repetition repetition,
      PrimitiveTypeName physical,
      @org.jspecify.annotations.Nullable LogicalTypeAnnotation logical,
      String name) {
    return logical == null
        ? Types.primitive(physical, repetition).named(name)
        : Types.primitive(physical, repetition).as(logical).named(name);
  }

  private static Type timestamp(
      Type.Repetition repetition, boolean utc, ColumnType type, String name) {
    TimeUnit unit = type.precision() <= 3 ? TimeUnit.MILLIS : TimeUnit.MICROS;
    return plain(
        repetition, PrimitiveTypeName.INT64, LogicalTypeAnnotation.timestampType(utc, unit), name);
  }

  private static Type decimal(Type.Repetition repetition, ColumnType type, String name) {
    LogicalTypeAnnotation logical =
        LogicalTypeAnnotation.decimalType(type.scale(), type.precision());
    if (type.precision() <= 9) {
      return plain(repetition, PrimitiveTypeName.INT32, logical, name);
    }
    if (type.precision() <= 18) {
      return plain(repetition, PrimitiveTypeName.INT64, logical, name);
    }
    return Types.primitive(PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, repetition)
        .length(decimalBytes(type.precision()))
        .as(logical)
        .named(name);
  }

  /** The fewest bytes that hold every number of so many digits, with sign. */
  static int decimalBytes(int precision) {
    return BigInteger.TEN.pow(precision).bitLength() / 8 + 1;
  }
}
