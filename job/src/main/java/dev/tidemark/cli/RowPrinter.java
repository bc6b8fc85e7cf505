package dev.tidemark.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.Schema;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Prints rows of a schema, one a line. */
interface RowPrinter {
  /** What comes before the first row; empty: nothing. */
  String heading();

  /** Prints a row that is there {@code diff} times. */
  void print(@Nullable Object[] row, long diff, Output out) throws IOException;

  /** One JSON object a line, {@code __diff} only when it isn't 1. */
  final class JsonLines implements RowPrinter {
    private final List<Column> columns;
    private final boolean strings;

    JsonLines(Schema schema, boolean strings) {
      this.columns = schema.columns();
      this.strings = strings;
    }

    @Override
    public String heading() {
      return "";
    }

    @Override
    public void print(@Nullable Object[] row, long diff, Output out) throws IOException {
      StringWriter line = new StringWriter();
      try (JsonGenerator json = Json.generator(line)) {
        json.writeStartObject();
        for (int i = 0; i < row.length; i++) {
          json.writeFieldName(columns.get(i).name());
          Values.json(json, columns.get(i).type(), row[i], strings);
        }
        if (diff != 1) {
          json.writeNumberField("__diff", diff);
        }
        json.writeEndObject();
      }
      out.line(line.getBuffer());
    }
  }

  /** RFC 4180 with a heading; a row that is there twice stands there twice. */
  final class Csv implements RowPrinter {
    private final List<Column> columns;
    private final String nullText;

    /**
     * A printer.
     *
     * @param nullText what stands for NULL, unquoted
     */
    Csv(Schema schema, String nullText) {
      this.columns = schema.columns();
      this.nullText = nullText;
    }

    @Override
    public String heading() {
      return columns.stream().map(column -> quoted(column.name())).collect(Collectors.joining(","));
    }

    @Override
    public void print(@Nullable Object[] row, long diff, Output out) {
      if (diff < 0) {
        throw new CommandException(
            Exit.NO,
            "a row is there " + diff + " times, which CSV can't say; --format json shows it");
      }
      String line = line(row);
      for (long n = 0; n < diff; n++) {
        out.line(line);
      }
    }

    /** A row as one line. */
    String line(@Nullable Object[] row) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.length; i++) {
        if (i > 0) {
          line.append(',');
        }
        @Nullable Object value = row[i];
        line.append(value == null ? nullText : quoted(Values.text(columns.get(i).type(), value)));
      }
      return line.toString();
    }

    /** In quotes where it needs them: an empty text too, and one that would read as NULL. */
    private String quoted(String text) {
      boolean bare = !text.isEmpty() && !text.equals(nullText);
      for (int i = 0; bare && i < text.length(); i++) {
        char c = text.charAt(i);
        bare = c != ',' && c != '"' && c != '\n' && c != '\r';
      }
      return bare ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
  }
}
