package dev.tidemark.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tidemark.schema.ColumnType;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values of rows as text: JSON's, and that of CSV, which is what databases write. */
final class Values {
  private Values() {}

  /**
   * Writes a value as JSON.
   *
   * @param strings whether BIGINT and DECIMAL become strings, for readers that keep doubles
   */
  static void json(JsonGenerator out, ColumnType type, @Nullable Object value, boolean strings)
      throws IOException {
    if (value == null) {
      out.writeNull();
      return;
    }
    switch (type.kind()) {
      case BOOLEAN -> out.writeBoolean((Boolean) value);
      case TINYINT, SMALLINT, INT -> out.writeNumber(((Number) value).intValue());
      case BIGINT -> {
        if (strings) {
          out.writeString(value.toString());
        } else {
          out.writeNumber((Long) value);
        }
      }
      case DECIMAL -> {
        if (strings) {
          out.writeString(((BigDecimal) value).toPlainString());
        } else {
          out.writeNumber((BigDecimal) value);
        }
      }
      case FLOAT -> number(out, (Float) value, value.toString());
      case DOUBLE -> number(out, (Double) value, value.toString());
      case BINARY, VARBINARY -> out.writeBinary((byte[]) value);
      case ARRAY -> {
        out.writeStartArray();
        for (Object item : (List<?>) value) {
          json(out, type.children().get(0), item, strings);
        }
        out.writeEndArray();
      }
      case ROW -> row(out, type, (List<?>) value, strings);
      case MAP -> map(out, type, (Map<?, ?>) value, strings);
      case TIMESTAMP, TIMESTAMP_LTZ -> out.writeString(time(value, 'T'));
      default -> out.writeString(text(type, value));
    }
  }

  private static void number(JsonGenerator out, double value, String text) throws IOException {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      out.writeString(text);
    } else {
      out.writeNumber(text);
    }
  }

  private static void row(JsonGenerator out, ColumnType type, List<?> fields, boolean strings)
      throws IOException {
    out.writeStartObject();
    for (int i = 0; i < fields.size(); i++) {
      out.writeFieldName(type.fieldNames().get(i));
      json(out, type.children().get(i), fields.get(i), strings);
    }
    out.writeEndObject();
  }

  /** An object where keys are text, else a list of pairs. */
  private static void map(JsonGenerator out, ColumnType type, Map<?, ?> map, boolean strings)
      throws IOException {
    ColumnType key = type.children().get(0);
    boolean object = key.kind() == ColumnType.Kind.CHAR || key.kind() == ColumnType.Kind.VARCHAR;
    if (object) {
      out.writeStartObject();
    } else {
      out.writeStartArray();
    }
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (object) {
        out.writeFieldName(String.valueOf(entry.getKey()));
      } else {
        out.writeStartArray();
        json(out, key, entry.getKey(), strings);
      }
      json(out, type.children().get(1), entry.getValue(), strings);
      if (!object) {
        out.writeEndArray();
      }
    }
    if (object) {
      out.writeEndObject();
    } else {
      out.writeEndArray();
    }
  }

  /** A value as PostgreSQL's COPY writes it; nested ones as JSON. */
  static String text(ColumnType type, Object value) {
    return switch (type.kind()) {
      case BOOLEAN -> (Boolean) value ? "t" : "f";
      case DECIMAL -> ((BigDecimal) value).toPlainString();
      case BINARY, VARBINARY -> "\\x" + HexFormat.of().formatHex((byte[]) value);
      case DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ -> time(value, ' ');
      case ARRAY, MAP, ROW -> nested(type, value);
      default -> value.toString();
    };
  }

  private static String nested(ColumnType type, Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = Json.generator(text)) {
      json(out, type, value, false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  /** A date or time, with as many digits of the fraction as it has. */
  static String time(Object value, char separator) {
    if (value instanceof LocalDate date) {
      return date.toString();
    }
    if (value instanceof LocalTime time) {
      return Times.CLOCK.format(time);
    }
    if (value instanceof Instant instant) {
      return time(LocalDateTime.ofInstant(instant, ZoneOffset.UTC), separator) + "Z";
    }
    LocalDateTime time = (LocalDateTime) value;
    return time.toLocalDate().toString() + separator + Times.CLOCK.format(time);
  }
}
