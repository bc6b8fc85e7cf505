package dev.tidemark.log;

import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.ColumnType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Column types as the log writes them: SQL's words in one form each, so that equal types give equal
 * text. {@code STRING} and {@code BYTES} are VARCHAR and VARBINARY without a bound; a type inside
 * another says NOT NULL; a ROW's fields are always quoted with backticks. The outermost nullability
 * stands beside the type.
 */
final class TypeText {
  /** How deep types may nest. */
  private static final int MAX_DEPTH = 32;

  private static final String NOT_NULL = " NOT NULL";

  private final String text;
  private int position;

  private TypeText(String text) {
    this.text = text;
  }

  static String print(ColumnType type) {
    StringBuilder out = new StringBuilder();
    print(type, out);
    return out.toString();
  }

  private static void print(ColumnType type, StringBuilder out) {
    boolean unbounded = type.precision() == Integer.MAX_VALUE;
    switch (type.kind()) {
      case BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE -> out.append(type.kind());
      case VARCHAR -> out.append(unbounded ? "STRING" : "VARCHAR(" + type.precision() + ")");
      case VARBINARY -> out.append(unbounded ? "BYTES" : "VARBINARY(" + type.precision() + ")");
      case CHAR, BINARY, TIME, TIMESTAMP, TIMESTAMP_LTZ ->
          out.append(type.kind()).append('(').append(type.precision()).append(')');
      case DECIMAL ->
          out.append("DECIMAL(")
              .append(type.precision())
              .append(',')
              .append(type.scale())
              .append(')');
      case ARRAY, MAP, ROW -> {
        out.append(type.kind()).append('<');
        for (int i = 0; i < type.children().size(); i++) {
          if (i > 0) {
            out.append(',');
          }
          if (type.kind() == Kind.ROW) {
            out.append('`').append(type.fieldNames().get(i).replace("`", "``")).append("` ");
          }
          print(type.children().get(i), out);
          if (!type.children().get(i).nullable()) {
            out.append(NOT_NULL);
          }
        }
        out.append('>');
      }
    }
  }

  /**
   * The type that {@code text} says.
   *
   * @throws IllegalArgumentException when it says none
   */
  static ColumnType parse(String text, boolean nullable) {
    TypeText parser = new TypeText(text);
    ColumnType type = parser.type(nullable, 0);
    if (parser.position != text.length()) {
      throw parser.fault();
    }
    return type;
  }

  private IllegalArgumentException fault() {
    return new IllegalArgumentException("no type at " + position + " of '" + text + "'");
  }

  private ColumnType type(boolean nullable, int depth) {
    if (depth > MAX_DEPTH) {
      throw fault();
    }
    int begin = position;
    while (position < text.length() && isWord(text.charAt(position))) {
      position++;
    }
    String word = text.substring(begin, position);
    if (word.equals("STRING")) {
      return new ColumnType(Kind.VARCHAR, nullable, Integer.MAX_VALUE, 0, List.of(), List.of());
    }
    if (word.equals("BYTES")) {
      return new ColumnType(Kind.VARBINARY, nullable, Integer.MAX_VALUE, 0, List.of(), List.of());
    }
    Kind kind = kind(word);
    return switch (kind) {
      case BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DATE ->
          ColumnType.of(kind, nullable);
      case CHAR, VARCHAR, BINARY, VARBINARY, TIME, TIMESTAMP, TIMESTAMP_LTZ -> {
        expect('(');
        int precision = number();
        expect(')');
        yield new ColumnType(kind, nullable, precision, 0, List.of(), List.of());
      }
      case DECIMAL -> {
        expect('(');
        int precision = number();
        expect(',');
        int scale = number();
        expect(')');
        yield new ColumnType(kind, nullable, precision, scale, List.of(), List.of());
      }
      case ARRAY, MAP, ROW -> nested(kind, nullable, depth);
    };
  }

  private ColumnType nested(Kind kind, boolean nullable, int depth) {
    List<ColumnType> children = new ArrayList<>();
    List<String> names = new ArrayList<>();
    expect('<');
    do {
      if (kind == Kind.ROW) {
        names.add(quoted());
        expect(' ');
      }
      ColumnType child = type(true, depth + 1);
      if (text.startsWith(NOT_NULL, position)) {
        position += NOT_NULL.length();
        child = child.withNullable(false);
      }
      children.add(child);
    } while (accept(','));
    expect('>');
    if (kind != Kind.ROW && children.size() != (kind == Kind.MAP ? 2 : 1)) {
      throw fault();
    }
    return new ColumnType(kind, nullable, 0, 0, children, names);
  }

  private static boolean isWord(char c) {
    return (c >= 'A' && c <= 'Z') || c == '_';
  }

  private Kind kind(String word) {
    for (Kind kind : Kind.values()) {
      if (kind.name().toUpperCase(Locale.ROOT).equals(word)) {
        return kind;
      }
    }
    throw fault();
  }

  private int number() {
    int begin = position;
    long value = 0;
    while (position < text.length()
        && text.charAt(position) >= '0'
        && text.charAt(position) <= '9'
        && value <= Integer.MAX_VALUE) {
      value = value * 10 + (text.charAt(position) - '0');
      position++;
    }
    if (position == begin || value > Integer.MAX_VALUE) {
      throw fault();
    }
    return (int) value;
  }

  private String quoted() {
    StringBuilder name = new StringBuilder();
    expect('`');
    while (true) {
      int end = text.indexOf('`', position);
      if (end < 0) {
        throw fault();
      }
      name.append(text, position, end);
      position = end + 1;
      if (!accept('`')) {
        return name.toString();
      }
      name.append('`');
    }
  }

  private boolean accept(char c) {
    if (position < text.length() && text.charAt(position) == c) {
      position++;
      return true;
    }
    return false;
  }

  private void expect(char c) {
    if (!accept(c)) {
      throw fault();
    }
  }
}
