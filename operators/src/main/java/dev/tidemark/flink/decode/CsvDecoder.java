package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.Column;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * RFC 4180 with a header line, columns by name. An empty field without quotes is NULL, {@code ""}
 * an empty text. BOOLEAN is true, false, t or f; ARRAY, MAP and ROW are JSON in a field; all else
 * as in {@link Values}. A column {@code __diff} counts with envelope changelog. A header that lacks
 * a declared column stops the job: it is another file than the schema says.
 */
final class CsvDecoder implements RecordDecoder {
  private static final BitSet NOTHING_MISSING = new BitSet();

  private final Tables tables;
  private final JsonText json = new JsonText();
  private final Values values = new Values();
  private byte @Nullable [] headerBytes;
  private final Map<String, Integer> header = new HashMap<>();

  CsvDecoder(Tables tables) {
    this.tables = tables;
  }

  @Override
  public Decoded decode(RawRecord record) {
    readHeader(record);
    Table table = tables.first();
    String name = "";
    try {
      byte[] bytes = record.value == null ? new byte[0] : record.value;
      if (bytes.length == 0 && header.size() > 1) {
        return Decoded.IGNORED;
      }
      json.checkUtf8(bytes);
      CsvRecord fields = CsvRecord.split(bytes);
      if (fields.fields().size() != header.size()) {
        throw new InvalidRowException(
            fields.fields().size() + " fields, but the header has " + header.size());
      }
      String matched = null;
      if (tables.kind() == TableMapping.MatchKind.COLUMN) {
        matched = fields.fields().get(fieldOf(tables.matchColumn()));
      }
      Table found = tables.find(matched);
      if (found == null) {
        return new Decoded.Unmatched(String.valueOf(matched));
      }
      table = found;
      name = matched == null ? table.name : matched;
      return row(record, table, fields);
    } catch (InvalidRowException e) {
      return new Decoded.Failure(
          table, name, String.valueOf(e.getMessage()), record.timestampMillis);
    }
  }

  private void readHeader(RawRecord record) {
    if (record.header == null || record.header == headerBytes) {
      return;
    }
    headerBytes = record.header;
    header.clear();
    try {
      json.checkUtf8(record.header);
      List<String> names = CsvRecord.split(record.header).fields();
      for (String name : names) {
        if (header.put(name, header.size()) != null) {
          throw new InvalidRowException("column " + name + " twice");
        }
      }
      List<String> wanted = new ArrayList<>();
      if (tables.kind() == TableMapping.MatchKind.COLUMN) {
        wanted.add(tables.matchColumn());
      }
      for (Table table : tables.all()) {
        table.schema.columns().forEach(column -> wanted.add(column.name()));
      }
      for (String name : wanted) {
        if (!header.containsKey(name)) {
          throw new InvalidRowException("no column " + name);
        }
      }
    } catch (InvalidRowException e) {
      throw new BadRecordException(
          record.place
              + ": header line: "
              + e.getMessage()
              + "; the first line must name the columns of source.schema");
    }
  }

  private Decoded row(RawRecord record, Table table, CsvRecord fields) throws InvalidRowException {
    List<Column> columns = table.schema.columns();
    @Nullable Object[] row = new @Nullable Object[columns.size()];
    boolean[] present = new boolean[row.length];
    for (int i = 0; i < row.length; i++) {
      present[i] = true;
      int field = fieldOf(columns.get(i).name());
      if (!isNull(fields, field)) {
        try {
          row[i] = values.read(columns.get(i).type(), node(columns.get(i), fields, field), null);
        } catch (InvalidRowException e) {
          throw new InvalidRowException(table.column(i) + e.getMessage());
        }
      }
    }
    table.checkNulls(row, present, NOTHING_MISSING);
    boolean upsert = table.mapping.envelope() == Envelope.UPSERT;
    Change change = new Change(upsert ? Action.SET : Action.UPDATE, row, diff(table, fields));
    long time = table.timeColumn < 0 ? record.timestampMillis : table.eventTime(row);
    int unknown = header.size() - columns.size() - (header.containsKey(JsonDecoder.DIFF) ? 1 : 0);
    return new Decoded.Rows(
        table, List.of(change), time, JsonDecoder.ordered(table), Math.max(0, unknown));
  }

  /** Where a column's field is; the header was checked for it. */
  private int fieldOf(String column) {
    return Objects.requireNonNull(header.get(column));
  }

  private static boolean isNull(CsvRecord fields, int field) {
    return fields.fields().get(field).isEmpty() && !fields.quoted().get(field);
  }

  /** The field as the JSON value it would be. */
  private JsonNode node(Column column, CsvRecord fields, int field) throws InvalidRowException {
    String text = fields.fields().get(field);
    return switch (column.type().kind()) {
      case BOOLEAN -> bool(text);
      case TINYINT, SMALLINT, INT, BIGINT -> number(text, true);
      case FLOAT, DOUBLE ->
          text.endsWith("N") || text.endsWith("y") ? new TextNode(text) : number(text, false);
      case ARRAY, MAP, ROW -> json.value(text.getBytes(StandardCharsets.UTF_8), 0);
      case DECIMAL, CHAR, VARCHAR, BINARY, VARBINARY, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ ->
          new TextNode(text);
    };
  }

  private static JsonNode bool(String text) throws InvalidRowException {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true", "t" -> BooleanNode.TRUE;
      case "false", "f" -> BooleanNode.FALSE;
      default -> throw new InvalidRowException("text that is neither true nor false");
    };
  }

  private static JsonNode number(String text, boolean integer) throws InvalidRowException {
    var number = Values.plainDecimal(new TextNode(text));
    var nodes = JsonNodeFactory.instance;
    if (!integer) {
      return nodes.numberNode(number);
    }
    if (number.scale() != 0) {
      throw new InvalidRowException("text that is no whole number");
    }
    return nodes.numberNode(number.unscaledValue());
  }

  private long diff(Table table, CsvRecord fields) throws InvalidRowException {
    Integer field = header.get(JsonDecoder.DIFF);
    if (table.mapping.envelope() != Envelope.CHANGELOG || field == null || isNull(fields, field)) {
      return 1;
    }
    try {
      long diff = Long.parseLong(fields.fields().get(field));
      if (diff != 0) {
        return diff;
      }
    } catch (NumberFormatException e) {
      // said below, as for 0
    }
    throw new InvalidRowException(JsonDecoder.DIFF + ": not a number other than 0");
  }
}
