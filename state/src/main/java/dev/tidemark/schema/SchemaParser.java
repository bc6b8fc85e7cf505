package dev.tidemark.schema;

import dev.tidemark.schema.ColumnType.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the text of a schema or type, in the words of Flink SQL's CREATE TABLE.
 *
 * <p>What a shard can't hold is refused with the column's name and what to declare instead.
 */
final class SchemaParser {
  private static final int UNBOUNDED = Integer.MAX_VALUE;
  private static final int MAX_DECIMAL_DIGITS = 38;

  /** Microseconds: nanoseconds of 64 bits end in 2262. */
  private static final int MAX_TIMESTAMP_PRECISION = 6;

  /** Milliseconds: Flink keeps no more of a TIME. */
  private static final int MAX_TIME_PRECISION = 3;

  private static final int MAX_PRECISION = 9;

  /** How deep types may lie in one another; deeper is a slip or an attack on the stack. */
  private static final int MAX_DEPTH = 32;

  private final Tokens tokens;

  private SchemaParser(String text) {
    this.tokens = Tokens.of(text);
  }

  static ColumnType type(String text) {
    SchemaParser parser = new SchemaParser(text);
    ColumnType type = parser.type(0);
    if (!parser.tokens.atEnd()) {
      throw new IllegalArgumentException(
          "type " + text + ": nothing is expected at " + parser.tokens.shown());
    }
    return type;
  }

  static Schema schema(String text, int id) {
    SchemaParser parser = new SchemaParser(text);
    List<Column> columns = new ArrayList<>();
    List<String> key = new ArrayList<>();
    do {
      if (parser.atKey()) {
        if (!key.isEmpty()) {
          throw new IllegalArgumentException("schema: PRIMARY KEY is there twice: give one");
        }
        key.addAll(parser.key());
      } else {
        columns.add(parser.column(columns.size() + 1));
      }
    } while (parser.tokens.take(","));
    if (!parser.tokens.atEnd()) {
      throw new IllegalArgumentException(
          "schema: expected a comma or the end before " + parser.tokens.shown());
    }
    return checked(id, columns, key);
  }

  private static Schema checked(int id, List<Column> columns, List<String> key) {
    if (columns.isEmpty()) {
      throw new IllegalArgumentException("schema: there is no column: declare at least one");
    }
    Set<String> names = new HashSet<>();
    for (Column column : columns) {
      if (!names.add(column.name())) {
        throw fault(column.name(), "is there twice: rename one of them");
      }
    }
    Set<String> keyNames = new HashSet<>();
    for (String name : key) {
      if (!names.contains(name)) {
        throw fault(name, "is in PRIMARY KEY but isn't a column: declare it or leave it out");
      }
      if (!keyNames.add(name)) {
        throw fault(name, "is in PRIMARY KEY twice: leave one out");
      }
    }
    List<Column> withKey = new ArrayList<>();
    for (Column column : columns) {
      withKey.add(keyNames.contains(column.name()) ? keyColumn(column) : column);
    }
    return new Schema(id, withKey, key);
  }

  /** A key column is never NULL, whether it says so or not. */
  private static Column keyColumn(Column column) {
    return switch (column.type().kind()) {
      case ARRAY, MAP, ROW ->
          throw fault(
              column.name(),
              column.type().kind() + " can't be a key: take a column of a plain type");
      default -> new Column(column.id(), column.name(), column.type().withNullable(false));
    };
  }

  private static IllegalArgumentException fault(String column, String what) {
    return new IllegalArgumentException("schema: column " + column + ": " + what);
  }

  private boolean atKey() {
    return tokens.sees("PRIMARY", "KEY", "(") || tokens.sees("CONSTRAINT");
  }

  private List<String> key() {
    if (tokens.take("CONSTRAINT")) {
      String constraint = tokens.name();
      if (!tokens.sees("PRIMARY", "KEY", "(")) {
        throw new IllegalArgumentException(
            "schema: constraint " + constraint + ": only PRIMARY KEY is known: leave it out");
      }
    }
    tokens.take("PRIMARY", "KEY", "(");
    List<String> key = new ArrayList<>();
    do {
      key.add(tokens.name());
    } while (tokens.take(","));
    tokens.expect(")");
    tokens.take("NOT", "ENFORCED");
    return key;
  }

  private Column column(int id) {
    if (tokens.sees("WATERMARK", "FOR")) {
      throw new IllegalArgumentException(
          "schema: WATERMARK isn't part of a shard's schema: leave it out, set source.event-time");
    }
    String name;
    try {
      name = tokens.name();
    } catch (IllegalArgumentException fault) {
      throw new IllegalArgumentException("schema: " + fault.getMessage(), fault);
    }
    if (name.startsWith("__")) {
      throw fault(name, "names that begin with __ are Tidemark's own: rename it");
    }
    try {
      ColumnType type = type(0);
      tokens.take("COMMENT"); // Its text is skipped with the tokens.
      return new Column(id, name, type);
    } catch (IllegalArgumentException fault) {
      throw new IllegalArgumentException(
          "schema: column " + name + ": " + fault.getMessage(), fault);
    }
  }

  private ColumnType type(int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException(
          "types lie more than " + MAX_DEPTH + " deep in one another: take STRING");
    }
    ColumnType type = bareType(tokens.keyword(), depth);
    if (tokens.take("NOT", "NULL")) {
      return type.withNullable(false);
    }
    tokens.take("NULL");
    return type;
  }

  private ColumnType bareType(String word, int depth) {
    return switch (word) {
      case "BOOLEAN" -> plain(Kind.BOOLEAN);
      case "TINYINT" -> plain(Kind.TINYINT);
      case "SMALLINT" -> plain(Kind.SMALLINT);
      case "INT", "INTEGER" -> plain(Kind.INT);
      case "BIGINT" -> plain(Kind.BIGINT);
      case "FLOAT" -> plain(Kind.FLOAT);
      case "DOUBLE" -> {
        tokens.take("PRECISION");
        yield plain(Kind.DOUBLE);
      }
      case "DECIMAL", "DEC", "NUMERIC" -> decimal();
      case "CHAR" -> sized(Kind.CHAR, length(word));
      case "VARCHAR" -> sized(Kind.VARCHAR, length(word));
      case "STRING" -> sized(Kind.VARCHAR, UNBOUNDED);
      case "BINARY" -> sized(Kind.BINARY, length(word));
      case "VARBINARY" -> sized(Kind.VARBINARY, length(word));
      case "BYTES" -> sized(Kind.VARBINARY, UNBOUNDED);
      case "DATE" -> plain(Kind.DATE);
      case "TIME" -> time();
      case "TIMESTAMP", "TIMESTAMP_LTZ" -> timestamp(word);
      case "ARRAY" -> array(depth);
      case "MAP" -> map(depth);
      case "ROW" -> row(depth);
      default -> throw unknown(word);
    };
  }

  private static IllegalArgumentException unknown(String word) {
    String mend =
        switch (word) {
          case "INTERVAL" -> "take BIGINT (months, or milliseconds)";
          case "MULTISET" -> "take MAP<..., INT>";
          case "RAW" -> "take BYTES";
          default -> "take STRING, or another type of Flink SQL";
        };
    return new IllegalArgumentException(word + " can't be stored: " + mend);
  }

  private static ColumnType plain(Kind kind) {
    return ColumnType.of(kind, true);
  }

  private static ColumnType sized(Kind kind, int precision) {
    return new ColumnType(kind, true, precision, 0, List.of(), List.of());
  }

  private static ColumnType nested(Kind kind, List<ColumnType> children, List<String> names) {
    return new ColumnType(kind, true, 0, 0, children, names);
  }

  private ColumnType decimal() {
    int precision = 10;
    int scale = 0;
    if (tokens.take("(")) {
      precision = number("DECIMAL precision", 1, MAX_DECIMAL_DIGITS);
      if (tokens.take(",")) {
        scale = number("DECIMAL scale", 0, precision);
      }
      tokens.expect(")");
    }
    return new ColumnType(Kind.DECIMAL, true, precision, scale, List.of(), List.of());
  }

  private int length(String word) {
    return parenthesized(word + " length", 1, UNBOUNDED, 1);
  }

  private ColumnType time() {
    int precision = parenthesized("TIME precision", 0, MAX_PRECISION, 0);
    if (precision > MAX_TIME_PRECISION) {
      throw new IllegalArgumentException(
          "TIME("
              + precision
              + ") can't be stored, Flink keeps whole milliseconds: take TIME(3),"
              + " or BIGINT for microseconds");
    }
    tokens.take("WITHOUT", "TIME", "ZONE");
    return sized(Kind.TIME, precision);
  }

  private ColumnType timestamp(String word) {
    int precision = parenthesized(word + " precision", 0, MAX_PRECISION, MAX_TIMESTAMP_PRECISION);
    Kind kind = word.equals("TIMESTAMP") ? Kind.TIMESTAMP : Kind.TIMESTAMP_LTZ;
    if (kind == Kind.TIMESTAMP && !tokens.take("WITHOUT", "TIME", "ZONE")) {
      if (tokens.take("WITH", "LOCAL", "TIME", "ZONE")) {
        kind = Kind.TIMESTAMP_LTZ;
      } else if (tokens.take("WITH", "TIME", "ZONE")) {
        throw new IllegalArgumentException(
            "TIMESTAMP WITH TIME ZONE can't be stored: take TIMESTAMP_LTZ(" + precision + ")");
      }
    }
    if (precision > MAX_TIMESTAMP_PRECISION) {
      throw new IllegalArgumentException(
          kind
              + "("
              + precision
              + ") can't be stored, nanoseconds end in 2262: take "
              + kind
              + "(6)");
    }
    return sized(kind, precision);
  }

  private ColumnType array(int depth) {
    tokens.expect("<");
    ColumnType element = type(depth + 1);
    tokens.expect(">");
    return nested(Kind.ARRAY, List.of(element), List.of());
  }

  private ColumnType map(int depth) {
    tokens.expect("<");
    ColumnType key = type(depth + 1);
    tokens.expect(",");
    ColumnType value = type(depth + 1);
    tokens.expect(">");
    return nested(Kind.MAP, List.of(key, value), List.of());
  }

  private ColumnType row(int depth) {
    String close = tokens.sees("(") ? ")" : ">";
    tokens.expect(close.equals(")") ? "(" : "<");
    List<String> names = new ArrayList<>();
    List<ColumnType> types = new ArrayList<>();
    do {
      String name = tokens.name();
      if (names.contains(name)) {
        throw new IllegalArgumentException("ROW field " + name + " is there twice: rename one");
      }
      names.add(name);
      types.add(type(depth + 1));
    } while (tokens.take(","));
    tokens.expect(close);
    return nested(Kind.ROW, types, names);
  }

  private int parenthesized(String what, int least, int most, int otherwise) {
    if (!tokens.take("(")) {
      return otherwise;
    }
    int number = number(what, least, most);
    tokens.expect(")");
    return number;
  }

  private int number(String what, int least, int most) {
    int number = tokens.number();
    if (number < least || number > most) {
      throw new IllegalArgumentException(
          what + " is " + number + ": must be from " + least + " to " + most);
    }
    return number;
  }
}
