package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.ColumnType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Values as Debezium writes them: by the message's schema block where it has one, else by the
 * declared type and the connector's settings; never guessed by how a value looks. Times are texts
 * or numbers; what a number counts depends on type and settings: TIMESTAMP(0..3) milliseconds and
 * TIMESTAMP(4..6) microseconds when adaptive, both milliseconds under connect; TIME(0..3)
 * milliseconds, but microseconds under adaptive-microseconds. A BIGINT column takes the number as
 * it is. {@code bit(n)} is base64 in every binary mode: without schema block declare it STRING
 * under hex.
 */
final class DebeziumValues extends Values {
  /** What stands for a large value that didn't change. */
  static final String PLACEHOLDER = "__debezium_unavailable_value";

  private static final String PLACEHOLDER_BASE64 =
      Base64.getEncoder().encodeToString(PLACEHOLDER.getBytes(StandardCharsets.UTF_8));
  private static final String PLACEHOLDER_MAP = "{\"" + PLACEHOLDER + "\":\"" + PLACEHOLDER + "\"}";
  private static final String DECIMAL = "org.apache.kafka.connect.data.Decimal";
  private static final long MICROS = 1_000_000;

  private final DebeziumSettings settings;

  DebeziumValues(DebeziumSettings settings) {
    this.settings = settings;
  }

  /**
   * The marker of an unchanged large value in all its forms: the text itself, in base64 for bytes,
   * as the only element of an array, as the codes of its characters in an array of numbers, as the
   * only entry of a map. A value that has it as a part is a value.
   */
  @Override
  boolean isMissing(ColumnType type, JsonNode node) {
    return switch (type.kind()) {
      case BINARY, VARBINARY -> isMarker(node) || PLACEHOLDER_BASE64.equals(node.textValue());
      case ARRAY -> (node.size() == 1 && isMarker(node.get(0))) || isMarkersCodes(node);
      case MAP, ROW -> node.size() == 1 && isMarker(node.path(PLACEHOLDER));
      case CHAR, VARCHAR -> isMarker(node) || PLACEHOLDER_MAP.equals(node.textValue());
      case BOOLEAN,
          TINYINT,
          SMALLINT,
          INT,
          BIGINT,
          FLOAT,
          DOUBLE,
          DECIMAL,
          DATE,
          TIME,
          TIMESTAMP,
          TIMESTAMP_LTZ ->
          isMarker(node);
    };
  }

  private static boolean isMarker(JsonNode node) {
    return PLACEHOLDER.equals(node.textValue());
  }

  private static boolean isMarkersCodes(JsonNode node) {
    if (!node.isArray() || node.size() != PLACEHOLDER.length()) {
      return false;
    }
    for (int i = 0; i < PLACEHOLDER.length(); i++) {
      if (!node.get(i).isInt() || node.get(i).intValue() != PLACEHOLDER.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** MySQL's BOOLEAN is a TINYINT(1). */
  @Override
  Object bool(JsonNode node) throws InvalidRowException {
    if (node.isInt() && (node.intValue() == 0 || node.intValue() == 1)) {
      return node.intValue() == 1;
    }
    return super.bool(node);
  }

  @Override
  Object decimal(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (node.isObject()) {
      return fit(variableScale(node), type, false);
    }
    boolean unscaled =
        SchemaBlock.logicalName(hint).equals(DECIMAL)
            || (hint == null && settings.decimal() == DebeziumSettings.Decimals.PRECISE);
    if (node.isTextual() && unscaled) {
      return fit(new BigDecimal(unscaled(node), scale(type, hint)), type, false);
    }
    // A double has 17 digits whatever the column's scale; this mode is lossy by its nature.
    return fit(plainDecimal(node), type, settings.decimal() == DebeziumSettings.Decimals.DOUBLE);
  }

  private static int scale(ColumnType type, @Nullable JsonNode hint) throws InvalidRowException {
    if (hint == null) {
      return type.scale();
    }
    String scale = hint.path("parameters").path("scale").textValue();
    try {
      return scale == null ? type.scale() : Integer.parseInt(scale);
    } catch (NumberFormatException e) {
      throw new InvalidRowException("schema with a scale that is no number");
    }
  }

  private static BigInteger unscaled(JsonNode node) throws InvalidRowException {
    byte[] bytes = base64(node);
    if (bytes.length == 0 || bytes.length > JsonText.MAX_NUMBER_DIGITS) {
      throw new InvalidRowException("bytes that are no decimal");
    }
    return new BigInteger(bytes);
  }

  private static BigDecimal variableScale(JsonNode node) throws InvalidRowException {
    JsonNode scale = node.path("scale");
    if (node.size() != 2 || !scale.isInt() || !node.has("value")) {
      throw unfit(node, "DECIMAL");
    }
    return new BigDecimal(unscaled(node.get("value")), scale.intValue());
  }

  /** A number of any scale fits a text too: it is the one type for numeric without scale. */
  @Override
  Object text(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    if (node.isObject() && node.has("scale")) {
      BigDecimal value = variableScale(node);
      if (Math.abs((long) value.scale()) > JsonText.MAX_NUMBER_DIGITS) {
        throw new InvalidRowException("number with too many digits");
      }
      return value.toPlainString();
    }
    if (SchemaBlock.logicalName(hint).equals(DECIMAL)) {
      if (hint == null || hint.path("parameters").path("scale").textValue() == null) {
        throw new InvalidRowException("a decimal whose scale is nowhere; declare it DECIMAL");
      }
      return new BigDecimal(
              unscaled(node), scale(ColumnType.of(ColumnType.Kind.DECIMAL, true), hint))
          .toPlainString();
    }
    return super.text(node, hint);
  }

  @Override
  Object binary(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    boolean bits = SchemaBlock.logicalName(hint).equals("io.debezium.data.Bits");
    if (settings.binary() == DebeziumSettings.Binary.BASE64 || bits) {
      return base64(node);
    }
    if (!node.isTextual()) {
      throw unfit(node, "hex");
    }
    try {
      return HexFormat.of().parseHex(node.textValue());
    } catch (IllegalArgumentException e) {
      throw new InvalidRowException("text that is no hex");
    }
  }

  @Override
  LocalDate date(JsonNode node, @Nullable JsonNode hint) throws InvalidRowException {
    if (node.isTextual()) {
      return IsoTimes.date(IsoTimes.withoutZ(node.textValue()));
    }
    try {
      return LocalDate.ofEpochDay(count(node, "days"));
    } catch (DateTimeException e) {
      throw new InvalidRowException("days out of the range of DATE");
    }
  }

  @Override
  LocalTime time(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    LocalTime time;
    if (node.isTextual()) {
      time = IsoTimes.time(IsoTimes.withoutZ(node.textValue()));
    } else {
      long unit = timeUnit(hint);
      long count = count(node, "a time");
      if (count < 0 || count >= 86_400 * unit) {
        throw new InvalidRowException("number out of the range of a day");
      }
      time = LocalTime.ofNanoOfDay(count * (1_000_000_000 / unit));
    }
    long tick = power10(9 - type.precision());
    if (time.toNanoOfDay() % tick != 0) {
      throw new InvalidRowException(
          "time with more digits than TIME(" + type.precision() + "); take BIGINT microseconds");
    }
    return time;
  }

  /** How many of a time's unit make a second. */
  private long timeUnit(@Nullable JsonNode hint) throws InvalidRowException {
    switch (SchemaBlock.logicalName(hint)) {
      case "io.debezium.time.Time", "org.apache.kafka.connect.data.Time" -> {
        return 1000;
      }
      case "io.debezium.time.MicroTime" -> {
        return MICROS;
      }
      case "io.debezium.time.NanoTime" -> {
        return 1_000_000_000;
      }
      default -> {}
    }
    switch (settings.time()) {
      case ADAPTIVE, CONNECT -> {
        return 1000;
      }
      case ADAPTIVE_MICROSECONDS -> {
        return MICROS;
      }
      case ISOSTRING -> {}
    }
    throw new InvalidRowException("a number, not ISO text (source.debezium.time isostring)");
  }

  @Override
  LocalDateTime timestamp(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (node.isTextual()) {
      return IsoTimes.timestamp(IsoTimes.withoutZ(node.textValue()));
    }
    return LocalDateTime.ofInstant(instant(type, node, hint), ZoneOffset.UTC);
  }

  @Override
  Instant instant(ColumnType type, JsonNode node, @Nullable JsonNode hint)
      throws InvalidRowException {
    if (node.isTextual()) {
      return IsoTimes.instant(node.textValue());
    }
    long unit = timestampUnit(type, hint);
    long count = count(node, "a time");
    try {
      return Instant.ofEpochSecond(
          Math.floorDiv(count, unit), Math.floorMod(count, unit) * (1_000_000_000 / unit));
    } catch (DateTimeException e) {
      throw new InvalidRowException("number out of the range of times");
    }
  }

  private long timestampUnit(ColumnType type, @Nullable JsonNode hint) throws InvalidRowException {
    switch (SchemaBlock.logicalName(hint)) {
      case "io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp" -> {
        return 1000;
      }
      case "io.debezium.time.MicroTimestamp" -> {
        return MICROS;
      }
      case "io.debezium.time.NanoTimestamp" -> {
        return 1_000_000_000;
      }
      default -> {}
    }
    switch (settings.time()) {
      case CONNECT -> {
        return 1000;
      }
      case ADAPTIVE, ADAPTIVE_MICROSECONDS -> {
        return type.precision() <= 3 ? 1000 : MICROS;
      }
      case ISOSTRING -> {}
    }
    throw new InvalidRowException("a number, not ISO text (source.debezium.time isostring)");
  }

  private static long count(JsonNode node, String what) throws InvalidRowException {
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw unfit(node, what);
    }
    return node.longValue();
  }

  private static long power10(int exponent) {
    long power = 1;
    for (int i = 0; i < exponent; i++) {
      power *= 10;
    }
    return power;
  }
}
