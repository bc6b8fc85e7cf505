package dev.tidemark.cli;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A condition on rows: {@code column op literal} joined by {@code and}; op is one of = != &lt;
 * &lt;= &gt; &gt;=, {@code is null}, {@code is not null}. NULL meets none but {@code is null}.
 */
final class Where {
  private static final Pattern TERM =
      Pattern.compile(
          "\\s*(`[^`]+`|[\\p{L}_][\\p{L}\\p{N}_$]*)\\s*"
              + "(?:(is\\s+not\\s+null|is\\s+null)|(<=|>=|!=|<>|=|<|>)\\s*('(?:[^']|'')*'|[^\\s']+))\\s*",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern AND = Pattern.compile("and\\s", Pattern.CASE_INSENSITIVE);

  private final List<Predicate<@Nullable Object[]>> terms = new ArrayList<>();

  private Where() {}

  /**
   * Reads a condition.
   *
   * @throws CommandException naming the place and the mend
   */
  static Where parse(String text, Schema schema) {
    Where where = new Where();
    Matcher term = TERM.matcher(text);
    int at = 0;
    while (true) {
      term.region(at, text.length());
      if (!term.lookingAt()) {
        throw wrong("can't read \"" + text.substring(at).strip() + "\"");
      }
      where.terms.add(term(term, schema));
      at = term.end();
      if (at == text.length()) {
        return where;
      }
      Matcher and = AND.matcher(text).region(at, text.length());
      if (!and.lookingAt()) {
        throw wrong("expected and before \"" + text.substring(at).strip() + "\"");
      }
      at = and.end();
    }
  }

  /** Whether a row meets it. */
  boolean meets(@Nullable Object[] row) {
    for (Predicate<@Nullable Object[]> term : terms) {
      if (!term.test(row)) {
        return false;
      }
    }
    return true;
  }

  private static Predicate<@Nullable Object[]> term(Matcher term, Schema schema) {
    String name = term.group(1).replace("`", "");
    int index = index(schema, name);
    @Nullable String nullness = term.group(2);
    if (nullness != null) {
      boolean wanted = !nullness.toLowerCase(Locale.ROOT).contains("not");
      return row -> (row[index] == null) == wanted;
    }
    Column column = schema.columns().get(index);
    Object literal = literal(column, term.group(4));
    IntPredicate test = test(term.group(3));
    return row -> {
      @Nullable Object value = row[index];
      return value != null && test.test(compare(column.type(), value, literal));
    };
  }

  private static int index(Schema schema, String name) {
    for (int i = 0; i < schema.columns().size(); i++) {
      if (schema.columns().get(i).name().equals(name)) {
        return i;
      }
    }
    throw wrong(
        "no column "
            + name
            + "; there are "
            + String.join(", ", schema.columns().stream().map(Column::name).toList()));
  }

  private static IntPredicate test(String operator) {
    return switch (operator) {
      case "=" -> order -> order == 0;
      case "!=", "<>" -> order -> order != 0;
      case "<" -> order -> order < 0;
      case "<=" -> order -> order <= 0;
      case ">" -> order -> order > 0;
      default -> order -> order >= 0;
    };
  }

  private static Object literal(Column column, String written) {
    String text =
        written.startsWith("'")
            ? written.substring(1, written.length() - 1).replace("''", "'")
            : written;
    try {
      return switch (column.type().kind()) {
        case BOOLEAN -> bool(text);
        case TINYINT, SMALLINT, INT, BIGINT, DECIMAL -> new BigDecimal(text);
        case FLOAT -> (double) Float.parseFloat(text);
        case DOUBLE -> Double.parseDouble(text);
        case CHAR, VARCHAR -> text;
        case BINARY, VARBINARY -> HexFormat.of().parseHex(text.replaceFirst("^\\\\x", ""));
        case DATE -> LocalDate.parse(text);
        case TIME -> LocalTime.parse(text);
        case TIMESTAMP -> LocalDateTime.parse(text.replace(' ', 'T'));
        case TIMESTAMP_LTZ -> OffsetDateTime.parse(text.replace(' ', 'T')).toInstant();
        case ARRAY, MAP, ROW ->
            throw wrong(column.name() + " is nested; only is null and is not null go");
      };
    } catch (DateTimeException | IllegalArgumentException e) {
      throw wrong(
          column.name()
              + " is "
              + column.type().kind()
              + ", and "
              + written
              + " isn't; times in quotes: '2026-11-29 23:47:20'");
    }
  }

  private static boolean bool(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "t" -> true;
      case "false", "f" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  private static int compare(ColumnType type, Object value, Object literal) {
    return switch (type.kind()) {
      case BOOLEAN -> ((Boolean) value).compareTo((Boolean) literal);
      case TINYINT, SMALLINT, INT, BIGINT ->
          BigDecimal.valueOf(((Number) value).longValue()).compareTo((BigDecimal) literal);
      case DECIMAL -> ((BigDecimal) value).compareTo((BigDecimal) literal);
      case FLOAT, DOUBLE ->
          Double.compare(((Number) value).doubleValue() + 0.0, (Double) literal + 0.0);
      case CHAR, VARCHAR ->
          Arrays.compareUnsigned(
              ((String) value).getBytes(StandardCharsets.UTF_8),
              ((String) literal).getBytes(StandardCharsets.UTF_8));
      case BINARY, VARBINARY -> Arrays.compareUnsigned((byte[]) value, (byte[]) literal);
      case DATE -> ((LocalDate) value).compareTo((LocalDate) literal);
      case TIME -> ((LocalTime) value).compareTo((LocalTime) literal);
      case TIMESTAMP -> ((LocalDateTime) value).compareTo((LocalDateTime) literal);
      case TIMESTAMP_LTZ -> ((Instant) value).compareTo((Instant) literal);
      case ARRAY, MAP, ROW -> throw new IllegalStateException("nested");
    };
  }

  private static CommandException wrong(String what) {
    return new CommandException(
        Exit.USAGE,
        "--where: "
            + what
            + " (write: column op literal [and ...], op one of = != < <= > >= is null, is not null)");
  }
}
