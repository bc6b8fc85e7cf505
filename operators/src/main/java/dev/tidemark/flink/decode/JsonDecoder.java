package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Plain JSON objects, columns by name (see {@link Values} for what they may hold). With envelope
 * upsert a record without value deletes the row of its key, itself an object; with changelog a
 * field {@code __diff} says how often the row is added, 1 where it is absent.
 */
final class JsonDecoder implements RecordDecoder {
  static final String DIFF = "__diff";

  private final Tables tables;
  private final JsonText json = new JsonText();
  private final ObjectRows rows = new ObjectRows(new Values());

  JsonDecoder(Tables tables) {
    this.tables = tables;
  }

  @Override
  public Decoded decode(RawRecord record) {
    try {
      if (record.value == null) {
        return deleted(record);
      }
      if (JsonText.isBlank(record.value) && record.topic == null) {
        return Decoded.IGNORED;
      }
      JsonNode object = json.object(record.value, record.byteOffset);
      String matched = matchValue(record, object);
      Table table = tables.find(matched);
      if (table == null) {
        return unmatched(matched);
      }
      try {
        return row(record, table, object);
      } catch (InvalidRowException e) {
        return new Decoded.Failure(
            table,
            String.valueOf(matched == null ? table.name : matched),
            String.valueOf(e.getMessage()),
            record.timestampMillis);
      }
    } catch (InvalidRowException e) {
      return new Decoded.Failure(
          tables.first(), "", String.valueOf(e.getMessage()), record.timestampMillis);
    }
  }

  private @Nullable String matchValue(RawRecord record, JsonNode object) {
    return tables.kind() == TableMapping.MatchKind.TOPIC
        ? record.topic
        : object.path(tables.matchColumn()).asText();
  }

  private static Decoded unmatched(@Nullable String value) throws InvalidRowException {
    if (value == null || value.isEmpty()) {
      throw new InvalidRowException("a record that names no table");
    }
    return new Decoded.Unmatched(value);
  }

  private Decoded row(RawRecord record, Table table, JsonNode object) throws InvalidRowException {
    @Nullable Object[] row = rows.row(table, object, null);
    boolean upsert = table.mapping.envelope() == Envelope.UPSERT;
    Change change = new Change(upsert ? Action.SET : Action.UPDATE, row, diff(table, object));
    long time = table.timeColumn < 0 ? record.timestampMillis : table.eventTime(row);
    return new Decoded.Rows(table, List.of(change), time, ordered(table), rows.unknownColumns());
  }

  /** Retractions must not precede their additions. */
  static boolean ordered(Table table) {
    return table.mapping.envelope() == Envelope.CHANGELOG;
  }

  private static long diff(Table table, JsonNode object) throws InvalidRowException {
    JsonNode diff = object.path(DIFF);
    if (table.mapping.envelope() != Envelope.CHANGELOG || diff.isMissingNode()) {
      return 1;
    }
    if (!diff.isIntegralNumber() || !diff.canConvertToLong() || diff.longValue() == 0) {
      throw new InvalidRowException(DIFF + ": not a number other than 0");
    }
    return diff.longValue();
  }

  private Decoded deleted(RawRecord record) throws InvalidRowException {
    Table table = tables.find(record.topic);
    if (record.key == null || table == null || table.mapping.envelope() != Envelope.UPSERT) {
      return Decoded.IGNORED;
    }
    @Nullable Object[] key = rows.key(table, json.object(record.key, 0), null);
    if (key == null) {
      throw new InvalidRowException("a delete whose key lacks a column of the PRIMARY KEY");
    }
    if (record.timestampMillis == RawRecord.NO_TIMESTAMP) {
      throw new InvalidRowException("a delete without time");
    }
    return new Decoded.Rows(
        table, List.of(new Change(Action.DELETE, key, 1)), record.timestampMillis, false, 0);
  }
}
