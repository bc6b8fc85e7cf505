package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import org.jspecify.annotations.Nullable;

/**
 * One message of a Debezium connector, taken apart as far as every shape allows: key and value out
 * of their schema blocks.
 *
 * @param record where it came from
 * @param value what is in it, an object
 * @param schema what the message says about the value; null: nothing
 * @param key the key; null where there is none
 * @param keySchema what the message says about the key; null: nothing
 */
record DebeziumMessage(
    RawRecord record,
    JsonNode value,
    @Nullable JsonNode schema,
    JsonNode key,
    @Nullable JsonNode keySchema) {

  /**
   * Takes a record apart.
   *
   * @return null for what says nothing: a tombstone, a blank line
   * @throws InvalidRowException when it is no message of Debezium
   */
  static @Nullable DebeziumMessage of(RawRecord record, DebeziumSettings settings, JsonText json)
      throws InvalidRowException {
    byte[] text = record.value;
    if (text == null || (record.topic == null && JsonText.isBlank(text))) {
      return null;
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
      key = record.key == null || record.key.length == 0 ? null : json.value(record.key, 0);
    }
    SchemaBlock.Unwrapped unwrapped = SchemaBlock.unwrap(value);
    if (unwrapped.payload().isNull()) {
      return null;
    }
    if (!unwrapped.payload().isObject()) {
      throw new InvalidRowException("not a Debezium message: no JSON object");
    }
    SchemaBlock.Unwrapped keyed = SchemaBlock.unwrap(key == null ? NullNode.instance : key);
    return new DebeziumMessage(
        record, unwrapped.payload(), unwrapped.schema(), keyed.payload(), keyed.schema());
  }

  /** The schema of a part of the value. */
  @Nullable JsonNode schemaOf(String field) {
    return SchemaBlock.field(schema, field);
  }

  /** Heartbeats, transactions' begin and end, changes of the schema. */
  boolean isMark() {
    return (value.size() == 1 && value.has("ts_ms"))
        || (value.has("status") && value.has("id"))
        || value.has("ddl")
        || value.has("tableChanges");
  }

  /** floor(ts_us / 1000), else ts_ms; never when the connector built the message. */
  static long time(JsonNode micros, JsonNode millis) {
    if (micros.isIntegralNumber() && micros.canConvertToLong()) {
      return Math.floorDiv(micros.longValue(), 1000L);
    }
    if (millis.isIntegralNumber() && millis.canConvertToLong()) {
      return millis.longValue();
    }
    return RawRecord.NO_TIMESTAMP;
  }
}
