package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * The schema that Kafka Connect's JSON converter puts beside a payload when schemas are on: the
 * only place where a decimal's scale and a time's unit stand.
 */
final class SchemaBlock {
  /** A value and its schema. */
  record Unwrapped(JsonNode payload, @Nullable JsonNode schema) {}

  private SchemaBlock() {}

  /** Takes the wrapper off, where there is one: both keys, nothing else, and a schema in one. */
  static Unwrapped unwrap(JsonNode node) {
    if (node.isObject() && node.size() == 2) {
      JsonNode schema = node.get("schema");
      JsonNode payload = node.get("payload");
      if (schema != null && payload != null && (schema.isNull() || schema.has("type"))) {
        return new Unwrapped(payload, schema.isNull() ? null : schema);
      }
    }
    return new Unwrapped(node, null);
  }

  /** The schema of a struct's field; null: unknown. */
  static @Nullable JsonNode field(@Nullable JsonNode struct, String name) {
    JsonNode fields = struct == null ? null : struct.get("fields");
    if (fields != null) {
      for (JsonNode field : fields) {
        if (name.equals(field.path("field").textValue())) {
          return field;
        }
      }
    }
    return null;
  }

  /** The name of a value's logical type; empty: none. */
  static String logicalName(@Nullable JsonNode hint) {
    String name = hint == null ? null : hint.path("name").textValue();
    return name == null ? "" : name;
  }
}
