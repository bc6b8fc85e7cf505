package dev.tidemark.flink.decode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tidemark.row.InvalidRowException;
import java.util.BitSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Rows from JSON objects, by name: what is absent is NULL, what the shard lacks is counted. */
final class ObjectRows {
  private final Values values;
  private int unknownColumns;
  private BitSet missing = new BitSet();

  ObjectRows(Values values) {
    this.values = values;
  }

  /** How many fields the last row had that its table has no column for. */
  int unknownColumns() {
    return unknownColumns;
  }

  /** Whose values the last row leaves out; each is NULL in it. */
  BitSet missing() {
    return missing;
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
    missing = new BitSet();
    int width = table.schema.columns().size();
    @Nullable Object[] row = new @Nullable Object[width];
    boolean[] present = new boolean[width];
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      int index = table.column(field.getKey());
      if (index >= 0) {
        present[index] = true;
        if (values.isMissing(table.schema.columns().get(index).type(), field.getValue())) {
          missing.set(index);
        } else {
          row[index] = value(table, index, field.getValue(), schema);
        }
      } else if (!field.getKey().startsWith("__")) {
        unknownColumns++;
      }
    }
    table.checkNulls(row, present, missing);
    return row;
  }

  /** A row of which only the column that holds its time is read. */
  @Nullable Object[] timed(Table table, JsonNode object, @Nullable JsonNode schema)
      throws InvalidRowException {
    @Nullable Object[] row = new @Nullable Object[table.schema.columns().size()];
    JsonNode field = object.get(table.schema.columns().get(table.timeColumn).name());
    if (field != null) {
      row[table.timeColumn] = value(table, table.timeColumn, field, schema);
    }
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
      if (values.isMissing(table.schema.columns().get(index).type(), field)) {
        throw new InvalidRowException(table.column(index) + "a key's value is not in the message");
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
