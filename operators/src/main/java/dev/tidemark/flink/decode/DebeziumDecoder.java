package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Debezium's JSON: envelope or unwrapped, each with or without schema block, even mixed. Nothing is
 * known from the order of fields, so a message is read whole. Truncates and placeholders of large
 * values are errors for now.
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

  /** One message, taken apart as far as every shape allows. */
  private record Message(
      RawRecord record,
      JsonNode value,
      @Nullable JsonNode schema,
      JsonNode key,
      @Nullable JsonNode keySchema) {
    /** The schema of a part of the value. */
    @Nullable JsonNode schemaOf(String field) {
      return SchemaBlock.field(schema, field);
    }
  }

  /** A message that belongs to a table, up to what its time and name are. */
  private record Addressed(Message message, Table table, String tableName, long metadataTime) {}

  @Override
  public Decoded decode(RawRecord record) {
    try {
      byte[] text = record.value;
      if (text == null || (record.topic == null && JsonText.isBlank(text))) {
        return Decoded.IGNORED;
      }
      JsonNode value;
      JsonNode key = null;
      if (record.topic == null && settings.lines() == DebeziumSettings.Lines.KEY_VALUE) {
        JsonNode line = json.object(text, record.byteOffset);
        value = line.get("value");
        key = line.get("key");
        if (value == null || key == null || line.size() != 2) {
          throw new InvalidRowException(
              "not a line {\"key\":…,\"value\":…}; or set source.debezium.lines to value");
        }
      } else {
        value = json.value(text, record.byteOffset);
        key = record.key == null ? null : json.value(record.key, 0);
      }
      SchemaBlock.Unwrapped unwrapped = SchemaBlock.unwrap(value);
      if (unwrapped.payload().isNull()) {
        return Decoded.IGNORED;
      }
      if (!unwrapped.payload().isObject()) {
        throw new InvalidRowException("not a Debezium message: no JSON object");
      }
      SchemaBlock.Unwrapped keyed = SchemaBlock.unwrap(key == null ? NullNode.instance : key);
      Message message =
          new Message(
              record, unwrapped.payload(), unwrapped.schema(), keyed.payload(), keyed.schema());
      return settings.shape() == DebeziumSettings.Shape.ENVELOPE
          ? envelope(message)
          : unwrapped(message);
    } catch (InvalidRowException e) {
      return failure(e);
    }
  }

  private Decoded failure(InvalidRowException e) {
    return new Decoded.Failure(tables.first(), "", reason(e), RawRecord.NO_TIMESTAMP);
  }

  private static String reason(InvalidRowException e) {
    return String.valueOf(e.getMessage());
  }

  private Decoded envelope(Message message) throws InvalidRowException {
    JsonNode value = message.value();
    String op = value.path("op").textValue();
    if (op == null) {
      if (isMark(value)) {
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
    long time = metadataTime(source.path("ts_us"), source.path("ts_ms"));
    Addressed addressed = new Addressed(message, table, name, time);
    try {
      return change(addressed, op);
    } catch (InvalidRowException e) {
      return new Decoded.Failure(table, name, reason(e), time);
    }
  }

  /** Heartbeats, transactions' begin and end, changes of the schema. */
  private static boolean isMark(JsonNode value) {
    return (value.size() == 1 && value.has("ts_ms"))
        || (value.has("status") && value.has("id"))
        || value.has("ddl")
        || value.has("tableChanges");
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

  private @Nullable String matchValue(Message message, String tableName, JsonNode image) {
    TableMapping.MatchKind kind = tables.kind();
    if (kind == null) {
      return null;
    }
    switch (kind) {
      case TABLE -> {
        return tableName;
      }
      case TOPIC -> {
        return message.record().topic;
      }
      case COLUMN -> {
        return image.path(tables.matchColumn()).asText();
      }
    }
    throw new AssertionError(kind);
  }

  private static Decoded unmatched(@Nullable String value) throws InvalidRowException {
    if (value == null || value.isEmpty()) {
      throw new InvalidRowException("a change that names no table");
    }
    return new Decoded.Unmatched(value);
  }

  /** floor(ts_us / 1000), else ts_ms; never when the connector built the message. */
  private static long metadataTime(JsonNode micros, JsonNode millis) {
    if (micros.isIntegralNumber() && micros.canConvertToLong()) {
      return Math.floorDiv(micros.longValue(), 1000L);
    }
    if (millis.isIntegralNumber() && millis.canConvertToLong()) {
      return millis.longValue();
    }
    return RawRecord.NO_TIMESTAMP;
  }

  private Decoded change(Addressed at, String op) throws InvalidRowException {
    switch (op) {
      case "r", "c" -> {
        return added(at);
      }
      case "u" -> {
        refuseInAppend(at, "an update");
        return updated(at);
      }
      case "d" -> {
        refuseInAppend(at, "a delete");
        return deleted(at);
      }
      case "t" ->
          throw new InvalidRowException("truncate of " + at.tableName() + ": not supported");
      default -> throw new InvalidRowException("unknown op");
    }
  }

  private static void refuseInAppend(Addressed at, String what) throws InvalidRowException {
    if (at.table().mapping.envelope() == Envelope.APPEND) {
      throw new InvalidRowException(
          what + ", but envelope is append; take changelog or upsert for " + at.table().name);
    }
  }

  private Decoded added(Addressed at) throws InvalidRowException {
    @Nullable Object[] after = image(at, "after");
    int unknown = rows.unknownColumns();
    boolean upsert = at.table().mapping.envelope() == Envelope.UPSERT;
    Change change = new Change(upsert ? Action.SET : Action.UPDATE, after, 1);
    return rows(at, List.of(change), after, unknown);
  }

  private Decoded updated(Addressed at) throws InvalidRowException {
    Table table = at.table();
    @Nullable Object[] after = image(at, "after");
    int unknown = rows.unknownColumns();
    JsonNode before = at.message().value().path("before");
    if (table.mapping.envelope() == Envelope.CHANGELOG) {
      if (!before.isObject()) {
        throw new InvalidRowException("an update without before-image" + IDENTITY);
      }
      @Nullable Object[] old = image(at, "before");
      return rows(
          at,
          List.of(new Change(Action.UPDATE, old, -1), new Change(Action.UPDATE, after, 1)),
          after,
          unknown);
    }
    Change set = new Change(Action.SET, after, 1);
    if (before.isObject()) {
      @Nullable Object[] oldKey = rows.key(table, before, at.message().schemaOf("before"));
      if (oldKey != null && !Arrays.deepEquals(oldKey, table.keyOf(after))) {
        return rows(at, List.of(new Change(Action.DELETE, oldKey, 1), set), after, unknown);
      }
    }
    return rows(at, List.of(set), after, unknown);
  }

  private Decoded deleted(Addressed at) throws InvalidRowException {
    Table table = at.table();
    JsonNode before = at.message().value().path("before");
    if (table.mapping.envelope() == Envelope.CHANGELOG) {
      if (!before.isObject()) {
        throw new InvalidRowException("a delete without before-image" + IDENTITY);
      }
      @Nullable Object[] old = image(at, "before");
      return rows(at, List.of(new Change(Action.UPDATE, old, -1)), old, rows.unknownColumns());
    }
    @Nullable Object[] key = null;
    if (before.isObject()) {
      key = rows.key(table, before, at.message().schemaOf("before"));
    }
    if (key == null && at.message().key().isObject()) {
      key = rows.key(table, at.message().key(), at.message().keySchema());
    }
    if (key == null) {
      throw new InvalidRowException("a delete with neither before-image nor key");
    }
    @Nullable Object[] old = table.timeColumn < 0 ? new @Nullable Object[0] : image(at, "before");
    return rows(at, List.of(new Change(Action.DELETE, key, 1)), old, 0);
  }

  private @Nullable Object[] image(Addressed at, String field) throws InvalidRowException {
    JsonNode image = at.message().value().path(field);
    if (!image.isObject()) {
      throw new InvalidRowException("a change without " + field);
    }
    return rows.row(at.table(), image, at.message().schemaOf(field));
  }

  /** The changes at their time, which is in {@code timed} where a column holds it. */
  private static Decoded rows(
      Addressed at, List<Change> changes, @Nullable Object[] timed, int unknownColumns)
      throws InvalidRowException {
    Table table = at.table();
    long time = table.timeColumn < 0 ? at.metadataTime() : table.eventTime(timed);
    if (table.timeColumn < 0 && time == RawRecord.NO_TIMESTAMP) {
      throw new InvalidRowException("no source.ts_us and no source.ts_ms to take the time from");
    }
    boolean ordered = table.timeColumn < 0 || table.mapping.envelope() == Envelope.CHANGELOG;
    return new Decoded.Rows(table, changes, time, ordered, unknownColumns);
  }

  private Decoded unwrapped(Message message) throws InvalidRowException {
    JsonNode value = message.value();
    String op = value.path("__op").textValue();
    boolean logical = value.path("op").asText().equals("m") && value.has("source");
    boolean mark = isMark(value) && !value.has("__table");
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
    long time = metadataTime(value.path("__source_ts_us"), value.path("__source_ts_ms"));
    Addressed at = new Addressed(message, table, name, time);
    try {
      boolean deleted =
          value.path("__deleted").asText().equals("true") || (op != null && op.equals("d"));
      return deleted ? unwrappedDelete(at) : unwrappedRow(at, op);
    } catch (InvalidRowException e) {
      return new Decoded.Failure(table, name, reason(e), time);
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

  private Decoded unwrappedRow(Addressed at, @Nullable String op) throws InvalidRowException {
    Table table = at.table();
    if (op != null && op.equals("t")) {
      throw new InvalidRowException("truncate of " + at.tableName() + ": not supported");
    }
    if (op != null && op.equals("u") && table.mapping.envelope() != Envelope.UPSERT) {
      throw new InvalidRowException(
          "an update without before-image (shape unwrapped); take envelope upsert for "
              + table.name);
    }
    @Nullable Object[] row = rows.row(table, at.message().value(), at.message().schema());
    int unknown = rows.unknownColumns();
    boolean upsert = table.mapping.envelope() == Envelope.UPSERT;
    return rows(at, List.of(new Change(upsert ? Action.SET : Action.UPDATE, row, 1)), row, unknown);
  }

  private Decoded unwrappedDelete(Addressed at) throws InvalidRowException {
    refuseInAppend(at, "a delete");
    Table table = at.table();
    JsonNode value = at.message().value();
    JsonNode schema = at.message().schema();
    if (table.mapping.envelope() == Envelope.CHANGELOG || table.timeColumn >= 0) {
      @Nullable Object[] row = rows.row(table, value, schema);
      Change change =
          table.mapping.envelope() == Envelope.CHANGELOG
              ? new Change(Action.UPDATE, row, -1)
              : new Change(Action.DELETE, table.keyOf(row), 1);
      return rows(at, List.of(change), row, rows.unknownColumns());
    }
    @Nullable Object[] key = rows.key(table, value, schema);
    if (key == null && at.message().key().isObject()) {
      key = rows.key(table, at.message().key(), at.message().keySchema());
    }
    if (key == null) {
      throw new InvalidRowException("a delete with neither row nor key");
    }
    return rows(at, List.of(new Change(Action.DELETE, key, 1)), new @Nullable Object[0], 0);
  }
}
