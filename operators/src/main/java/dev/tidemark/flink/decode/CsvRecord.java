package dev.tidemark.flink.decode;

import dev.tidemark.row.InvalidRowException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * One record of RFC 4180, without its line end, as fields.
 *
 * @param fields the texts, quotes taken off
 * @param quoted which of them stood in quotes
 */
record CsvRecord(List<String> fields, List<Boolean> quoted) {

  /** Splits the bytes of a record, which must be UTF-8. */
  static CsvRecord split(byte[] bytes) throws InvalidRowException {
    List<String> fields = new ArrayList<>();
    List<Boolean> quoted = new ArrayList<>();
    int at = 0;
    while (true) {
      if (at < bytes.length && bytes[at] == '"') {
        ByteArrayOutputStream field = new ByteArrayOutputStream();
        at = quotedField(bytes, at + 1, field);
        fields.add(field.toString(StandardCharsets.UTF_8));
        quoted.add(true);
        if (at < bytes.length && bytes[at] != ',') {
          throw new InvalidRowException("text behind a closing quote in field " + fields.size());
        }
      } else {
        int start = at;
        while (at < bytes.length && bytes[at] != ',') {
          if (bytes[at] == '"') {
            throw new InvalidRowException("a quote within field " + (fields.size() + 1));
          }
          at++;
        }
        fields.add(new String(bytes, start, at - start, StandardCharsets.UTF_8));
        quoted.add(false);
      }
      if (at >= bytes.length) {
        return new CsvRecord(fields, quoted);
      }
      at++;
    }
  }

  private static int quotedField(byte[] bytes, int from, ByteArrayOutputStream field)
      throws InvalidRowException {
    int at = from;
    int start = from;
    while (at < bytes.length) {
      if (bytes[at] != '"') {
        at++;
        continue;
      }
      field.write(bytes, start, at - start);
      if (at + 1 < bytes.length && bytes[at + 1] == '"') {
        field.write('"');
        at += 2;
        start = at;
        continue;
      }
      return at + 1;
    }
    throw new InvalidRowException("a quoted field that isn't closed");
  }
}
