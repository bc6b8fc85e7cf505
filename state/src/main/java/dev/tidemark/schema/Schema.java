package dev.tidemark.schema;

import java.io.Serializable;
import java.util.List;

/**
 * The columns of a shard and its key. Rows are ordered by the key's columns in their declared
 * order, then by the others in schema order; without a key, by all columns in schema order.
 *
 * @param id the version of the schema within its shard, from 1
 * @param columns the columns in schema order
 * @param key the names of the key's columns in declared order; empty when the whole row is the key
 */
public record Schema(int id, List<Column> columns, List<String> key) implements Serializable {
  /** Copies the lists. */
  public Schema {
    columns = List.copyOf(columns);
    key = List.copyOf(key);
  }
}
