package dev.tidemark.row;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Schemas and random rows for tests. */
public final class Schemas {
  private Schemas() {}

  /** A type with a length, a precision or a precision and scale. */
  public static ColumnType type(Kind kind, boolean nullable, int precision, int scale) {
    return new ColumnType(kind, nullable, precision, scale, List.of(), List.of());
  }

  /** A VARCHAR of any length. */
  public static ColumnType text(boolean nullable) {
    return type(Kind.VARCHAR, nullable, Integer.MAX_VALUE, 0);
  }

  /** A VARBINARY of any length. */
  public static ColumnType bytes(boolean nullable) {
    return type(Kind.VARBINARY, nullable, Integer.MAX_VALUE, 0);
  }

  /** An ARRAY. */
  public static ColumnType array(boolean nullable, ColumnType element) {
    return new ColumnType(Kind.ARRAY, nullable, 0, 0, List.of(element), List.of());
  }

  /** A MAP. */
  public static ColumnType map(boolean nullable, ColumnType key, ColumnType value) {
    return new ColumnType(Kind.MAP, nullable, 0, 0, List.of(key, value), List.of());
  }

  /** A ROW of fields a, b, c ... */
  public static ColumnType row(boolean nullable, ColumnType... fields) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < fields.length; i++) {
      names.add(String.valueOf((char) ('a' + i)));
    }
    return new ColumnType(Kind.ROW, nullable, 0, 0, List.of(fields), names);
  }

  /** A schema of columns c1, c2 ... of these types, keyed by these of them. */
  public static Schema of(List<ColumnType> types, String... key) {
    List<Column> columns = new ArrayList<>();
    for (ColumnType type : types) {
      columns.add(new Column(columns.size() + 1, "c" + (columns.size() + 1), type));
    }
    return new Schema(1, columns, List.of(key));
  }

  /** A column of every type, each as NULL forbids it and as it allows it, flat and nested. */
  public static Schema everything() {
    List<ColumnType> types = new ArrayList<>();
    for (boolean nullable : new boolean[] {false, true}) {
      types.addAll(flat(nullable));
      types.add(array(nullable, text(true)));
      types.add(array(nullable, ColumnType.of(Kind.INT, false)));
      types.add(array(nullable, array(true, ColumnType.of(Kind.BIGINT, true))));
      types.add(map(nullable, text(false), ColumnType.of(Kind.DOUBLE, true)));
      types.add(
          row(
              nullable,
              ColumnType.of(Kind.INT, true),
              array(true, row(true, text(true), type(Kind.DECIMAL, false, 38, 10))),
              map(false, ColumnType.of(Kind.DATE, false), bytes(false))));
    }
    return of(types, "c16", "c5");
  }

  /** Every flat type. */
  public static List<ColumnType> flat(boolean nullable) {
    return List.of(
        ColumnType.of(Kind.BOOLEAN, nullable),
        ColumnType.of(Kind.TINYINT, nullable),
        ColumnType.of(Kind.SMALLINT, nullable),
        ColumnType.of(Kind.INT, nullable),
        ColumnType.of(Kind.BIGINT, nullable),
        ColumnType.of(Kind.FLOAT, nullable),
        ColumnType.of(Kind.DOUBLE, nullable),
        type(Kind.DECIMAL, nullable, 9, 2),
        type(Kind.DECIMAL, nullable, 18, 0),
        type(Kind.DECIMAL, nullable, 38, 10),
        type(Kind.DECIMAL, nullable, 20, 20),
        type(Kind.CHAR, nullable, 5, 0),
        type(Kind.BINARY, nullable, 7, 0),
        bytes(nullable),
        ColumnType.of(Kind.DATE, nullable),
        text(nullable),
        type(Kind.TIME, nullable, 3, 0),
        type(Kind.TIMESTAMP, nullable, 3, 0),
        type(Kind.TIMESTAMP, nullable, 6, 0),
        type(Kind.TIMESTAMP_LTZ, nullable, 3, 0),
        type(Kind.TIMESTAMP_LTZ, nullable, 6, 0));
  }

  /** A random row of a schema. */
  public static Object[] row(Schema schema, Random random) {
    Object[] values = new Object[schema.columns().size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(schema.columns().get(i).type(), random);
    }
    return values;
  }

  /** A random value of a type, borders often among them; as {@code RowCodec.decode} gives it. */
  public static Object value(ColumnType type, Random random) {
    if (type.nullable() && random.nextInt(4) == 0) {
      return null;
    }
    return switch (type.kind()) {
      case BOOLEAN -> random.nextBoolean();
      case TINYINT -> (byte) number(random);
      case SMALLINT -> (short) number(random);
      case INT -> (int) number(random);
      case BIGINT -> number(random);
      case FLOAT ->
          pick(
              random,
              0f,
              1f,
              -1f,
              Float.NaN,
              Float.MAX_VALUE,
              Float.MIN_VALUE,
              Float.NEGATIVE_INFINITY,
              Float.POSITIVE_INFINITY,
              random.nextFloat());
      case DOUBLE ->
          pick(
              random,
              0d,
              1d,
              -1d,
              Double.NaN,
              -Double.MAX_VALUE,
              Double.MIN_VALUE,
              Double.NEGATIVE_INFINITY,
              Double.POSITIVE_INFINITY,
              random.nextDouble());
      case DECIMAL -> decimal(type, random);
      case CHAR, VARCHAR -> string(random, Math.min(type.precision(), 40));
      case BINARY, VARBINARY -> binary(random, Math.min(type.precision(), 40));
      case DATE ->
          pick(
              random,
              LocalDate.EPOCH,
              LocalDate.of(9999, 12, 31),
              LocalDate.of(1, 1, 1),
              LocalDate.ofEpochDay(random.nextInt()));
      case TIME ->
          pick(
              random,
              LocalTime.MIDNIGHT,
              LocalTime.of(23, 59, 59, 999_000_000),
              LocalTime.ofNanoOfDay(random.nextInt(86_400_000) * 1_000_000L));
      case TIMESTAMP -> LocalDateTime.ofInstant(instant(type, random), ZoneOffset.UTC);
      case TIMESTAMP_LTZ -> instant(type, random);
      case ARRAY -> list(type.children().get(0), random);
      case MAP -> entries(type, random);
      case ROW -> {
        List<Object> fields = new ArrayList<>();
        for (ColumnType child : type.children()) {
          fields.add(value(child, random));
        }
        yield fields;
      }
    };
  }

  @SafeVarargs
  private static <T> T pick(Random random, T... candidates) {
    return candidates[random.nextInt(candidates.length)];
  }

  private static long number(Random random) {
    return switch (random.nextInt(5)) {
      case 0 -> pick(random, 0L, 1L, -1L, Long.MAX_VALUE, Long.MIN_VALUE);
      case 1 -> random.nextInt(10) - 5L;
      case 2 -> 1L << random.nextInt(64);
      default -> random.nextLong();
    };
  }

  private static BigDecimal decimal(ColumnType type, Random random) {
    BigInteger most = BigInteger.TEN.pow(type.precision()).subtract(BigInteger.ONE);
    BigInteger unscaled =
        pick(
            random,
            BigInteger.ZERO,
            BigInteger.ONE,
            BigInteger.ONE.negate(),
            most,
            most.negate(),
            new BigInteger(100, random).remainder(most),
            new BigInteger(30, random).negate().remainder(most));
    return new BigDecimal(unscaled, type.scale());
  }

  private static String string(Random random, int max) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(max + 1);
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          pick(
              random, 0, 1, (int) 'a', (int) 'b', (int) '?', 0x7F, 0x80, 0xFFFF, 0x1F600,
              0x10FFFF));
    }
    return text.toString();
  }

  private static byte[] binary(Random random, int max) {
    byte[] bytes = new byte[random.nextInt(max + 1)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = pick(random, (byte) 0, (byte) 1, (byte) -1, (byte) random.nextInt());
    }
    return bytes;
  }

  private static Instant instant(ColumnType type, Random random) {
    long millis =
        pick(
            random,
            0L,
            -1L,
            1L,
            Instant.parse("9999-12-31T23:59:59.999Z").toEpochMilli(),
            Instant.parse("0001-01-01T00:00:00Z").toEpochMilli(),
            random.nextLong() >> 20);
    Instant instant = Instant.ofEpochMilli(millis);
    return type.precision() <= 3 ? instant : instant.plusNanos(random.nextInt(1000) * 1000L);
  }

  private static List<Object> list(ColumnType element, Random random) {
    List<Object> list = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      list.add(value(element, random));
    }
    return list;
  }

  private static Map<Object, Object> entries(ColumnType type, Random random) {
    Map<Object, Object> map = new LinkedHashMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      map.put(
          value(type.children().get(0).withNullable(false), random),
          value(type.children().get(1), random));
    }
    return map;
  }
}
