package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Debezium's JSON: envelope or unwrapped, each with or without schema block, even mixed. Nothing is
 * known from the order of fields, so a message is read whole.
 *
 * <p>In envelope changelog before-images are trusted. In envelope upsert they give a key and
 * nothing else: without REPLICA IDENTITY FULL all else in them is NULL or made up.
 */
final class DebeziumDecoder implements RecordDecoder {
  private static final String IDENTITY =
      "; envelope changelog needs REPLICA IDENTITY FULL on the table, or take envelope upsert";

  private final DebeziumSettings settings;
  private final Tables tables;
  private final JsonText json = new JsonText();
  private final ObjectRows rows;

  DebeziumDecoder(DebeziumSettings settings, Tables tables) {
    this.settings = settings;
    this.tables = tables;
    this.rows = new ObjectRows(new DebeziumValues(settings));
  }

  @Override
  public Decoded decode(RawRecord record) {
    try {
      DebeziumMessage message = DebeziumMessage.of(record, settings, json);
      if (message == null) {
        return Decoded.IGNORED;
      }
      return settings.shape() == DebeziumSettings.Shape.ENVELOPE
          ? envelope(message)
          : unwrapped(message);
    } catch (InvalidRowException e) {
      return new Decoded.Failure(
          tables.first(), "", String.valueOf(e.getMessage()), RawRecord.NO_TIMESTAMP);
    }
  }

  private Decoded envelope(DebeziumMessage message) throws InvalidRowException {
    JsonNode value = message.value();
    String op = value.path("op").textValue();
    if (op == null) {
      if (message.isMark()) {
        return Decoded.IGNORED;
      }
      throw new InvalidRowException(
          "not a Debezium envelope: no op; flat rows need source.debezium.shape unwrapped");
    }
    if (op.equals("m")) {
      return Decoded.IGNORED;
    }
    JsonNode source = value.path("source");
    String name = tableName(source);
    JsonNode image = value.path("after").isObject() ? value.path("after") : value.path("before");
    String matched = matchValue(message, name, image);
    Table table = tables.find(matched);
    if (table == null) {
      return unmatched(matched);
    }
    long time = DebeziumMessage.time(source.path("ts_us"), source.path("ts_ms"));
    DebeziumChange change = new DebeziumChange(message, table, name, time, rows);
    try {
      return decoded(change, op);
    } catch (InvalidRowException e) {
      return change.failure(e);
    }
  }

  /** As the database writes it: schema.table, or db.table where there are no schemas. */
  private static String tableName(JsonNode source) {
    String table = source.path("table").textValue();
    if (table == null) {
      return "";
    }
    String schema = source.path("schema").textValue();
    String outer = schema == null ? source.path("db").textValue() : schema;
    return outer == null ? table : outer + "." + table;
  }

  private @Nullable String matchValue(DebeziumMessage message, String tableName, JsonNode image) {
    TableMapping.MatchKind kind = tables.kind();
    if (kind == null) {
      return null;
    }
    return switch (kind) {
      case TABLE -> tableName;
      case TOPIC -> message.record().topic;
      case COLUMN -> image.path(tables.matchColumn()).asText();
    };
  }

  private static Decoded unmatched(@Nullable String value) throws InvalidRowException {
    if (value == null || value.isEmpty()) {
      throw new InvalidRowException("a change that names no table");
    }
    return new Decoded.Unmatched(value);
  }

  private Decoded decoded(DebeziumChange change, String op) throws InvalidRowException {
    switch (op) {
      case "r", "c" -> {
        JsonNode after = image(change, "after");
        return change.set(after, change.message().schemaOf("after"), true);
      }
      case "u" -> {
        change.refuseInAppend("an update");
        return change.envelope() == Envelope.CHANGELOG ? updated(change) : replaced(change);
      }
      case "d" -> {
        change.refuseInAppend("a delete");
        return change.envelope() == Envelope.CHANGELOG ? retracted(change) : deleted(change);
      }
      case "t" -> {
        return change.truncate();
      }
      default -> throw new InvalidRowException("unknown op");
    }
  }

  private static Decoded replaced(DebeziumChange change) throws InvalidRowException {
    return change.replace(change.message().value().path("before"), image(change, "after"));
  }

  /** Both images are trusted. */
  private Decoded updated(DebeziumChange change) throws InvalidRowException {
    if (!change.message().value().path("before").isObject()) {
      throw new InvalidRowException("an update without before-image" + IDENTITY);
    }
    @Nullable Object[] after = row(change, "after");
    int unknown = rows.unknownColumns();
    @Nullable Object[] old = row(change, "before");
    return change.rows(
        List.of(new Change(Action.UPDATE, old, -1), new Change(Action.UPDATE, after, 1)),
        after,
        unknown);
  }

  private Decoded retracted(DebeziumChange change) throws InvalidRowException {
    if (!change.message().value().path("before").isObject()) {
      throw new InvalidRowException("a delete without before-image" + IDENTITY);
    }
    @Nullable Object[] old = row(change, "before");
    return change.rows(List.of(new Change(Action.UPDATE, old, -1)), old, rows.unknownColumns());
  }

  private Decoded deleted(DebeziumChange change) throws InvalidRowException {
    DebeziumMessage message = change.message();
    Table table = change.table();
    JsonNode before = message.value().path("before");
    @Nullable Object[] key = null;
    if (before.isObject()) {
      key = rows.key(table, before, message.schemaOf("before"));
    }
    if (key == null && message.key().isObject()) {
      key = rows.key(table, message.key(), message.keySchema());
    }
    if (key == null) {
      throw new InvalidRowException("a delete with neither before-image nor key");
    }
    @Nullable Object[] timed = new @Nullable Object[0];
    if (table.timeColumn >= 0) {
      timed = rows.timed(table, image(change, "before"), message.schemaOf("before"));
    }
    return change.rows(List.of(new Change(Action.DELETE, key, 1)), timed, 0);
  }

  /** A row none of whose values is missing. */
  private @Nullable Object[] row(DebeziumChange change, String field) throws InvalidRowException {
    JsonNode image = image(change, field);
    @Nullable Object[] row = rows.row(change.table(), image, change.message().schemaOf(field));
    change.refuseMissing(rows.missing());
    return row;
  }

  private static JsonNode image(DebeziumChange change, String field) throws InvalidRowException {
    JsonNode image = change.message().value().path(field);
    if (!image.isObject()) {
      throw new InvalidRowException("a change without " + field);
    }
    return image;
  }

  private Decoded unwrapped(DebeziumMessage message) throws InvalidRowException {
    JsonNode value = message.value();
    String op = value.path("__op").textValue();
    boolean logical = value.path("op").asText().equals("m") && value.has("source");
    boolean mark = message.isMark() && !value.has("__table");
    if (op == null && (logical || mark)) {
      return Decoded.IGNORED;
    }
    String name = unwrappedName(value);
    String matched = matchValue(message, name, value);
    Table table =
        tables.kind() == TableMapping.MatchKind.TABLE
            ? tables.findByLastName(name)
            : tables.find(matched);
    if (table == null) {
      return unmatched(matched);
    }
    long time = DebeziumMessage.time(value.path("__source_ts_us"), value.path("__source_ts_ms"));
    DebeziumChange change = new DebeziumChange(message, table, name, time, rows);
    try {
      boolean deleted =
          value.path("__deleted").asText().equals("true") || (op != null && op.equals("d"));
      return deleted ? unwrappedDelete(change) : unwrappedRow(change, op == null ? "" : op);
    } catch (InvalidRowException e) {
      return change.failure(e);
    }
  }

  /** The schema is there only where the connector was told to add it. */
  private static String unwrappedName(JsonNode value) {
    String table = firstText(value, "__source_table", "__table");
    String schema = firstText(value, "__source_schema", "__schema");
    return table == null ? "" : schema == null ? table : schema + "." + table;
  }

  private static @Nullable String firstText(JsonNode value, String one, String other) {
    String text = value.path(one).textValue();
    return text == null ? value.path(other).textValue() : text;
  }

  private static Decoded unwrappedRow(DebeziumChange change, String op) throws InvalidRowException {
    if (op.equals("t")) {
      return change.truncate();
    }
    if (op.equals("u") && change.envelope() != Envelope.UPSERT) {
      throw new InvalidRowException(
          "an update without before-image (shape unwrapped); take envelope upsert for "
              + change.table().name);
    }
    DebeziumMessage message = change.message();
    return change.set(message.value(), message.schema(), op.equals("c") || op.equals("r"));
  }

  private Decoded unwrappedDelete(DebeziumChange change) throws InvalidRowException {
    change.refuseInAppend("a delete");
    Table table = change.table();
    JsonNode value = change.message().value();
    JsonNode schema = change.message().schema();
    if (change.envelope() == Envelope.CHANGELOG) {
      @Nullable Object[] row = rows.row(table, value, schema);
      int unknown = rows.unknownColumns();
      change.refuseMissing(rows.missing());
      return change.rows(List.of(new Change(Action.UPDATE, row, -1)), row, unknown);
    }
    @Nullable Object[] key = rows.key(table, value, schema);
    if (key == null && change.message().key().isObject()) {
      key = rows.key(table, change.message().key(), change.message().keySchema());
    }
    if (key == null) {
      throw new InvalidRowException("a delete with neither row nor key");
    }
    @Nullable Object[] timed =
        table.timeColumn < 0 ? new @Nullable Object[0] : rows.timed(table, value, schema);
    return change.rows(List.of(new Change(Action.DELETE, key, 1)), timed, 0);
  }
}
