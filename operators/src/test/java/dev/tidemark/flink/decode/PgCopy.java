package dev.tidemark.flink.decode;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.io.BufferedReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Tables as PostgreSQL's COPY writes them, with NULL '\N'. */
final class PgCopy {
  private PgCopy() {}

  /** The rows, in the schema's columns, which are found by name. */
  static List<Object[]> read(String resource, Schema schema) throws Exception {
    StringBuilder text = new StringBuilder();
    try (BufferedReader reader = Replay.open(resource)) {
      int c;
      while ((c = reader.read()) >= 0) {
        text.append((char) c);
      }
    }
    List<CsvRecord> records = new ArrayList<>();
    int start = 0;
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      quoted ^= text.charAt(i) == '"';
      if (text.charAt(i) == '\n' && !quoted) {
        byte[] record = text.substring(start, i).getBytes(StandardCharsets.UTF_8);
        records.add(CsvRecord.split(record));
        start = i + 1;
      }
    }
    List<String> header = records.get(0).fields();
    List<Object[]> rows = new ArrayList<>();
    for (CsvRecord record : records.subList(1, records.size())) {
      Object[] row = new Object[schema.columns().size()];
      for (int i = 0; i < row.length; i++) {
        Column column = schema.columns().get(i);
        int field = header.indexOf(column.name());
        String value = record.fields().get(field);
        boolean isNull = value.equals("\\N") && !record.quoted().get(field);
        row[i] = isNull ? null : value(column.type(), value);
      }
      rows.add(row);
    }
    return rows;
  }

  static Object value(ColumnType type, String text) throws Exception {
    return switch (type.kind()) {
      case BOOLEAN -> text.equals("t") || text.equals("1");
      case TINYINT -> Byte.valueOf(text);
      case SMALLINT -> Short.valueOf(text);
      case INT -> Integer.valueOf(text);
      case BIGINT ->
          text.contains(":") ? micros(text) : (Object) Long.valueOf(text); // time(6) as BIGINT
      case FLOAT -> Float.valueOf(text);
      case DOUBLE -> Double.valueOf(text);
      case DECIMAL -> text.equals("NaN") ? null : new BigDecimal(text).setScale(type.scale());
      case CHAR, VARCHAR -> text;
      case BINARY, VARBINARY ->
          text.startsWith("\\x")
              ? HexFormat.of().parseHex(text.substring(2))
              : new byte[] {(byte) Integer.parseInt(text, 2)};
      case DATE -> LocalDate.parse(text);
      case TIME -> LocalTime.parse(text);
      case TIMESTAMP -> IsoTimes.timestamp(text);
      case TIMESTAMP_LTZ -> IsoTimes.instant(text);
      case ARRAY -> array(type.children().get(0), text);
      case MAP, ROW -> throw new AssertionError(type);
    };
  }

  private static long micros(String time) {
    return LocalTime.parse(time).toNanoOfDay() / 1000;
  }

  private static List<Object> array(ColumnType element, String text) throws Exception {
    List<Object> list = new ArrayList<>();
    int i = 1;
    while (i < text.length() - 1) {
      if (text.charAt(i) == '{') { // Debezium makes NULL of the inner arrays
        list.add(null);
        i = text.indexOf('}', i) + 2;
        continue;
      }
      StringBuilder item = new StringBuilder();
      boolean quoted = text.charAt(i) == '"';
      if (quoted) {
        i++;
      }
      while (quoted ? text.charAt(i) != '"' : text.charAt(i) != ',' && text.charAt(i) != '}') {
        if (text.charAt(i) == '\\') {
          i++;
        }
        item.append(text.charAt(i++));
      }
      i += quoted ? 2 : 1;
      boolean isNull = !quoted && item.toString().equals("NULL");
      list.add(isNull ? null : value(element, item.toString()));
    }
    return list;
  }
}
