package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.row.InvalidRowException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows from JSON objects, by name: what is absent is NULL, what the shard lacks is counted. */
final class ObjectRows {
  private final Values values;
  private int unknownColumns;

  ObjectRows(Values values) {
    this.values = values;
  }

  /** How many fields the last row had that its table has no column for. */
  int unknownColumns() {
    return unknownColumns;
  }

  /**
   * A row in schema order.
   *
   * @param schema what the message's schema block says about the object; null: nothing
   * @throws InvalidRowException naming column, table and reason
   */
  @Nullable Object[] row(Table table, JsonNode object, @Nullable JsonNode schema)
      throws InvalidRowException {
    unknownColumns = 0;
    int width = table.schema.columns().size();
    @Nullable Object[] row = new @Nullable Object[width];
    boolean[] present = new boolean[width];
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      int index = table.column(field.getKey());
      if (index >= 0) {
        present[index] = true;
        row[index] = value(table, index, field.getValue(), schema);
      } else if (!field.getKey().startsWith("__")) {
        unknownColumns++;
      }
    }
    table.checkNulls(row, present);
    return row;
  }

  /** The key's values in key order; null: the object doesn't hold them all. */
  @Nullable Object @Nullable [] key(Table table, JsonNode object, @Nullable JsonNode schema)
      throws InvalidRowException {
    @Nullable Object[] key = new @Nullable Object[table.keyColumns.length];
    for (int i = 0; i < key.length; i++) {
      int index = table.keyColumns[i];
      JsonNode field = object.get(table.schema.columns().get(index).name());
      if (field == null) {
        return null;
      }
      key[i] = value(table, index, field, schema);
    }
    return key;
  }

  private @Nullable Object value(Table table, int index, JsonNode node, @Nullable JsonNode schema)
      throws InvalidRowException {
    var column = table.schema.columns().get(index);
    try {
      return values.read(
          column.type(), node, schema == null ? null : SchemaBlock.field(schema, column.name()));
    } catch (InvalidRowException e) {
      throw new InvalidRowException(table.column(index) + e.getMessage());
    }
  }
}
