package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.ColumnType;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns JSON values into a row's, by the declared type alone. Exact or refused: an integer that
 * doesn't fit its type, a decimal that would lose a digit, a number for a text are errors; nothing
 * is wrapped, rounded or made NULL.
 *
 * <p>BOOLEAN: true, false. Integers: numbers without fraction. FLOAT, DOUBLE: numbers, or "NaN",
 * "Infinity", "-Infinity". DECIMAL: numbers or texts. CHAR, VARCHAR: texts. BINARY, VARBINARY:
 * base64. DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ: ISO texts, never numbers, whose unit nobody could
 * know. ARRAY: arrays. MAP: objects, or arrays of [key, value] where keys aren't texts. ROW:
 * objects, by name.
 */
class Values {
  /** Whether a column's value stands for "what it was": it isn't in the message. */
  boolean isMissing(ColumnType type, JsonNode node) {
    return false;
  }

  /**
   * A value.
   *
   * @param hint what the message's schema block says about it; null: nothing
   * @throws InvalidRowException with the reason, when it doesn't fit
   */
  @Nullable Object read(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (node.isNull()) {
      if (!type.nullable()) {
        throw new InvalidRowException("NULL, but it is NOT NULL");
      }
      return null;
    }
    return switch (type.kind()) {
      case BOOLEAN -> bool(node);
      case TINYINT -> (Object) (byte) integer(node, Byte.MIN_VALUE, Byte.MAX_VALUE, type);
      case SMALLINT -> (Object) (short) integer(node, Short.MIN_VALUE, Short.MAX_VALUE, type);
      case INT -> (Object) (int) integer(node, Integer.MIN_VALUE, Integer.MAX_VALUE, type);
      case BIGINT -> (Object) integer(node, Long.MIN_VALUE, Long.MAX_VALUE, type);
      case FLOAT, DOUBLE -> floating(node, type);
      case DECIMAL -> decimal(type, node, hint);
      case CHAR, VARCHAR -> text(node, hint);
      case BINARY, VARBINARY -> binary(node, hint);
      case DATE -> date(node, hint);
      case TIME -> time(type, node, hint);
      case TIMESTAMP -> timestamp(type, node, hint);
      case TIMESTAMP_LTZ -> instant(type, node, hint);
      case ARRAY -> array(type, node, hint);
      case MAP -> map(type, node, hint);
      case ROW -> row(type, node, hint);
    };
  }

  Object bool(JsonNode node) throws InvalidRowException {
    if (!node.isBoolean()) {
      throw unfit(node, "BOOLEAN");
    }
    return node.booleanValue();
  }

  private static long integer(JsonNode node, long min, long max, ColumnType type)
      throws InvalidRowException {
    if (!node.isIntegralNumber()) {
      throw unfit(node, type.kind().name());
    }
    if (!node.canConvertToLong() || node.longValue() < min || node.longValue() > max) {
      throw new InvalidRowException("number out of the range of " + type.kind());
    }
    return node.longValue();
  }

  /** A Float for FLOAT, a Double for DOUBLE: each rounded once, from all digits. */
  private static Number floating(JsonNode node, ColumnType type) throws InvalidRowException {
    boolean single = type.kind() == ColumnType.Kind.FLOAT;
    if (node.isTextual()) {
      double value =
          switch (node.textValue()) {
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            default -> throw unfit(node, type.kind().name());
          };
      return single ? (Number) (float) value : (Number) value;
    }
    if (!node.isNumber()) {
      throw unfit(node, type.kind().name());
    }
    Number number =
        single
            ? (Number) node.decimalValue().floatValue()
            : (Number) node.decimalValue().doubleValue();
    if (Double.isInfinite(number.doubleValue())) {
      throw new InvalidRowException("number out of the range of " + type.kind());
    }
    return number;
  }

  Object decimal(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    return fit(plainDecimal(node), type, false);
  }

  /** A number, or a text that is one. */
  static BigDecimal plainDecimal(JsonNode node) throws InvalidRowException {
    if (node.isNumber()) {
      return node.decimalValue();
    }
    if (!node.isTextual()) {
      throw unfit(node, "DECIMAL");
    }
    String text = node.textValue();
    if (text.length() > JsonText.MAX_NUMBER_DIGITS) {
      throw new InvalidRowException("number with too many digits");
    }
    try {
      return new BigDecimal(text);
    } catch (NumberFormatException e) {
      throw new InvalidRowException("text that is no decimal number");
    }
  }

  /** The value with the type's scale. */
  static BigDecimal fit(BigDecimal value, ColumnType type, boolean round)
      throws InvalidRowException {
    if (value.signum() == 0) {
      return BigDecimal.ZERO.setScale(type.scale());
    }
    // Before anything is scaled: 1e1000000000 is a short text and a very long number.
    if ((long) value.precision() - value.scale() > type.precision() - type.scale()) {
      throw new InvalidRowException("number out of the range of " + name(type));
    }
    BigDecimal scaled;
    if (round) {
      scaled = value.setScale(type.scale(), RoundingMode.HALF_UP);
    } else {
      if (value.scale() > type.scale() && value.stripTrailingZeros().scale() > type.scale()) {
        throw new InvalidRowException("number with more decimal places than " + name(type));
      }
      scaled = value.setScale(type.scale(), RoundingMode.UNNECESSARY);
    }
    if (scaled.precision() > type.precision()) {
      throw new InvalidRowException("number out of the range of " + name(type));
    }
    return scaled;
  }

  private static String name(ColumnType type) {
    return "DECIMAL(" + type.precision() + ", " + type.scale() + ")";
  }

  Object text(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    if (!node.isTextual()) {
      throw unfit(node, "text");
    }
    return checkSurrogates(node.textValue());
  }

  /** A text with half a character in it can't be written in UTF-8. */
  static String checkSurrogates(String text) throws InvalidRowException {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (!Character.isHighSurrogate(c)
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(++i))) {
          throw new InvalidRowException("text with half a surrogate pair");
        }
      }
    }
    return text;
  }

  Object binary(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    return base64(node);
  }

  static byte[] base64(JsonNode node) throws InvalidRowException {
    if (!node.isTextual()) {
      throw unfit(node, "base64");
    }
    String text = node.textValue();
    if (text.length() % 4 != 0) {
      throw new InvalidRowException("text that is no base64");
    }
    try {
      return Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw new InvalidRowException("text that is no base64");
    }
  }

  LocalDate date(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    return IsoTimes.date(timeText(node));
  }

  LocalTime time(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    return IsoTimes.time(timeText(node));
  }

  LocalDateTime timestamp(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    return IsoTimes.timestamp(timeText(node));
  }

  Instant instant(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    return IsoTimes.instant(timeText(node));
  }

  private static String timeText(JsonNode node) throws InvalidRowException {
    if (!node.isTextual()) {
      throw unfit(node, "ISO text");
    }
    return node.textValue();
  }

  private List<@Nullable Object> array(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (!node.isArray()) {
      throw unfit(node, "ARRAY");
    }
    JsonNode items = hint == null ? null : hint.get("items");
    List<@Nullable Object> list = new ArrayList<>(node.size());
    for (JsonNode element : node) {
      list.add(read(type.children().get(0), element, items));
    }
    return list;
  }

  private Map<@Nullable Object, @Nullable Object> map(
      ColumnType type, JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    ColumnType keys = type.children().get(0);
    ColumnType values = type.children().get(1);
    JsonNode hints = hint == null ? null : hint.get("values");
    Map<@Nullable Object, @Nullable Object> map = new LinkedHashMap<>();
    if (node.isObject()) {
      if (keys.kind() != ColumnType.Kind.VARCHAR && keys.kind() != ColumnType.Kind.CHAR) {
        throw unfit(node, "array of [key, value]");
      }
      for (Map.Entry<String, JsonNode> entry : node.properties()) {
        map.put(checkSurrogates(entry.getKey()), read(values, entry.getValue(), hints));
      }
      return map;
    }
    if (!node.isArray()) {
      throw unfit(node, "MAP");
    }
    for (JsonNode pair : node) {
      if (!pair.isArray() || pair.size() != 2) {
        throw unfit(pair, "[key, value]");
      }
      if (map.containsKey(read(keys, pair.get(0), null))) {
        throw new InvalidRowException("key twice in a MAP");
      }
      map.put(read(keys, pair.get(0), null), read(values, pair.get(1), hints));
    }
    return map;
  }

  private List<@Nullable Object> row(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (!node.isObject()) {
      throw unfit(node, "ROW");
    }
    List<@Nullable Object> fields = new ArrayList<>();
    for (int i = 0; i < type.fieldNames().size(); i++) {
      String name = type.fieldNames().get(i);
      JsonNode field = node.get(name);
      ColumnType fieldType = type.children().get(i);
      if (field == null) {
        if (!fieldType.nullable()) {
          throw new InvalidRowException("field " + name + " missing, but it is NOT NULL");
        }
        fields.add(null);
      } else {
        try {
          fields.add(read(fieldType, field, SchemaBlock.field(hint, name)));
        } catch (InvalidRowException e) {
          throw new InvalidRowException("field " + name + ": " + e.getMessage());
        }
      }
    }
    return fields;
  }

  /** That a value isn't what a type takes: says the kind of it, not the value. */
  static InvalidRowException unfit(JsonNode node, String wanted) {
    String kind =
        node.isBigDecimal()
            ? "number with a fraction"
            : node.getNodeType().name().toLowerCase(Locale.ROOT);
    return new InvalidRowException("a " + kind + ", not " + wanted);
  }
}
