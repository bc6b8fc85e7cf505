package dev.tidemark.job;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Schemas as Flink's SQL writes them: {@code id BIGINT NOT NULL, name STRING, PRIMARY KEY (id) NOT
 * ENFORCED}.
 */
public final class SchemaText {
  private static final int MOST_DIGITS = 38;

  private static final Set<String> TYPES =
      Stream.concat(
              Arrays.stream(Kind.values()).map(Kind::name),
              Stream.of("STRING", "BYTES", "INTEGER", "NUMERIC"))
          .collect(Collectors.toUnmodifiableSet());

  private final SchemaTokens tokens;

  private SchemaText(String text) {
    this.tokens = new SchemaTokens(text);
  }

  /**
   * Reads a schema; column ids count from 1, the schema's id is 1.
   *
   * @throws IllegalArgumentException naming the column or the place, and the mend
   */
  public static Schema parse(String text) {
    return new SchemaText(text).schema();
  }

  /** A type as {@link #parse} reads it, without nullability. */
  public static String type(ColumnType type) {
    return switch (type.kind()) {
      case CHAR, BINARY -> type.kind() + "(" + type.precision() + ")";
      case VARCHAR ->
          type.precision() == Integer.MAX_VALUE ? "STRING" : "VARCHAR(" + type.precision() + ")";
      case VARBINARY ->
          type.precision() == Integer.MAX_VALUE ? "BYTES" : "VARBINARY(" + type.precision() + ")";
      case DECIMAL -> "DECIMAL(" + type.precision() + ", " + type.scale() + ")";
      case TIME, TIMESTAMP, TIMESTAMP_LTZ -> type.kind() + "(" + type.precision() + ")";
      case ARRAY -> "ARRAY<" + child(type, 0) + ">";
      case MAP -> "MAP<" + child(type, 0) + ", " + child(type, 1) + ">";
      case ROW -> {
        StringJoiner fields = new StringJoiner(", ", "ROW<", ">");
        for (int i = 0; i < type.children().size(); i++) {
          fields.add(type.fieldNames().get(i) + " " + child(type, i));
        }
        yield fields.toString();
      }
      default -> type.kind().toString();
    };
  }

  private static String child(ColumnType type, int index) {
    ColumnType child = type.children().get(index);
    return type(child) + (child.nullable() ? "" : " NOT NULL");
  }

  private Schema schema() {
    List<Column> columns = new ArrayList<>();
    List<String> key = List.of();
    Set<String> names = new HashSet<>();
    do {
      if (tokens.takeWords("PRIMARY", "KEY")) {
        if (!key.isEmpty()) {
          throw new IllegalArgumentException("PRIMARY KEY stands twice");
        }
        key = key();
        continue;
      }
      String name = tokens.name("a column's name");
      if (name.startsWith("__")) {
        throw new IllegalArgumentException(
            "column " + name + ": names that begin with __ are Tidemark's own; take another");
      }
      if (!names.add(name)) {
        throw new IllegalArgumentException("column " + name + " stands twice");
      }
      columns.add(new Column(columns.size() + 1, name, type(name)));
    } while (tokens.take(","));
    tokens.end();
    if (columns.isEmpty()) {
      throw new IllegalArgumentException("no columns");
    }
    return new Schema(1, keyed(columns, key), key);
  }

  private List<String> key() {
    tokens.need("(");
    List<String> key = new ArrayList<>();
    do {
      key.add(tokens.name("a key column's name"));
    } while (tokens.take(","));
    tokens.need(")");
    if (!tokens.takeWords("NOT", "ENFORCED")) {
      throw new IllegalArgumentException("write PRIMARY KEY (...) NOT ENFORCED");
    }
    if (new HashSet<>(key).size() < key.size()) {
      throw new IllegalArgumentException("PRIMARY KEY names a column twice");
    }
    return key;
  }

  /** Key columns are never NULL, whether it is said or not. */
  private static List<Column> keyed(List<Column> columns, List<String> key) {
    for (String name : key) {
      Column column =
          columns.stream()
              .filter(c -> c.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "PRIMARY KEY names " + name + ", which is no column"));
      switch (column.type().kind()) {
        case ARRAY, MAP, ROW ->
            throw new IllegalArgumentException(
                "column "
                    + name
                    + ": "
                    + column.type().kind()
                    + " can't be a key; take a plain type");
        default -> {}
      }
    }
    return columns.stream()
        .map(
            c ->
                key.contains(c.name())
                    ? new Column(c.id(), c.name(), c.type().withNullable(false))
                    : c)
        .toList();
  }

  private ColumnType type(String column) {
    ColumnType type = bareType(column);
    if (tokens.takeWords("NOT", "NULL")) {
      return type.withNullable(false);
    }
    tokens.takeWords("NULL");
    return type;
  }

  private ColumnType bareType(String column) {
    String word = tokens.name("the type of column " + column).toUpperCase(Locale.ROOT);
    return switch (word) {
      case "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DATE" ->
          ColumnType.of(Kind.valueOf(word), true);
      case "INTEGER" -> ColumnType.of(Kind.INT, true);
      case "DOUBLE" -> {
        tokens.takeWords("PRECISION");
        yield ColumnType.of(Kind.DOUBLE, true);
      }
      case "DECIMAL", "DEC", "NUMERIC" -> decimal(column);
      case "CHAR", "BINARY" -> sized(Kind.valueOf(word), length(column, 1));
      case "VARCHAR", "VARBINARY" -> sized(Kind.valueOf(word), length(column, 1));
      case "STRING" -> sized(Kind.VARCHAR, Integer.MAX_VALUE);
      case "BYTES" -> sized(Kind.VARBINARY, Integer.MAX_VALUE);
      case "TIME" -> time(column);
      case "TIMESTAMP", "TIMESTAMP_LTZ" -> timestamp(column, word);
      case "ARRAY" -> {
        tokens.need("<");
        ColumnType element = type(column);
        tokens.need(">");
        yield nested(Kind.ARRAY, List.of(element), List.of());
      }
      case "MAP" -> {
        tokens.need("<");
        ColumnType key = type(column);
        tokens.need(",");
        ColumnType value = type(column);
        tokens.need(">");
        yield nested(Kind.MAP, List.of(key, value), List.of());
      }
      case "ROW" -> row(column);
      case "INTERVAL", "MULTISET", "RAW" ->
          throw new IllegalArgumentException("column " + column + ": " + word + " can't be stored");
      default -> throw new IllegalArgumentException(unknownType(column, word));
    };
  }

  private static String unknownType(String column, String word) {
    String near = Nearest.of(word, TYPES).map(type -> "; did you mean " + type + "?").orElse("");
    return "column "
        + column
        + ": no type "
        + word
        + near
        + " (UUID, JSON, XML and the like come as STRING)";
  }

  private ColumnType decimal(String column) {
    int precision = 10;
    int scale = 0;
    if (tokens.take("(")) {
      precision = tokens.number();
      if (tokens.take(",")) {
        scale = tokens.number();
      }
      tokens.need(")");
    }
    if (precision < 1 || precision > MOST_DIGITS || scale > precision) {
      throw new IllegalArgumentException(
          "column " + column + ": DECIMAL takes 1 to 38 digits, and no more behind the point");
    }
    return new ColumnType(Kind.DECIMAL, true, precision, scale, List.of(), List.of());
  }

  private ColumnType time(String column) {
    int precision = parenthesised(0);
    if (precision > 3) {
      throw new IllegalArgumentException(
          "column "
              + column
              + ": TIME("
              + precision
              + "): Flink keeps whole milliseconds; take BIGINT microseconds");
    }
    return sized(Kind.TIME, precision);
  }

  private ColumnType timestamp(String column, String word) {
    int precision = parenthesised(6);
    if (precision > 6) {
      throw new IllegalArgumentException(
          "column "
              + column
              + ": "
              + word
              + "("
              + precision
              + "): nanoseconds end in 2262; take "
              + word
              + "(6)");
    }
    if (word.equals("TIMESTAMP")) {
      if (tokens.takeWords("WITH", "LOCAL", "TIME", "ZONE")) {
        return sized(Kind.TIMESTAMP_LTZ, precision);
      }
      tokens.takeWords("WITHOUT", "TIME", "ZONE");
    }
    return sized(Kind.valueOf(word), precision);
  }

  private ColumnType row(String column) {
    String close = tokens.take("(") ? ")" : ">";
    if (close.equals(">")) {
      tokens.need("<");
    }
    List<ColumnType> types = new ArrayList<>();
    List<String> names = new ArrayList<>();
    do {
      names.add(tokens.name("a field's name in " + column));
      types.add(type(column));
    } while (tokens.take(","));
    tokens.need(close);
    return nested(Kind.ROW, types, names);
  }

  private int length(String column, int standard) {
    int length = parenthesised(standard);
    if (length < 1) {
      throw new IllegalArgumentException("column " + column + ": the length is at least 1");
    }
    return length;
  }

  private int parenthesised(int standard) {
    if (!tokens.take("(")) {
      return standard;
    }
    int number = tokens.number();
    tokens.need(")");
    return number;
  }

  private static ColumnType sized(Kind kind, int precision) {
    return new ColumnType(kind, true, precision, 0, List.of(), List.of());
  }

  private static ColumnType nested(Kind kind, List<ColumnType> children, List<String> names) {
    return new ColumnType(kind, true, 0, 0, children, names);
  }
}
