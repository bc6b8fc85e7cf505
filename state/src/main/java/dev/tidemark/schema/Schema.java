package dev.tidemark.schema;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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

  /** Names that begin something else where a column's name may stand. */
  private static final Set<String> RESERVED = Set.of("PRIMARY", "CONSTRAINT", "WATERMARK");

  /** A name that needs no quotes. */
  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /**
   * The schema that a text declares, such as {@code id BIGINT NOT NULL, v STRING, PRIMARY KEY (id)
   * NOT ENFORCED}. Key columns are NOT NULL whether they say so or not; field ids count from 1.
   *
   * @param text columns and key in the words of Flink SQL's CREATE TABLE
   * @param id the version of the schema within its shard, from 1
   * @throws IllegalArgumentException one line that names the column and the mend
   */
  public static Schema parse(String text, int id) {
    return SchemaParser.schema(text, id);
  }

  /** The one text of this schema, the inverse of {@link #parse} but for the ids. */
  @Override
  public String toString() {
    String text =
        columns.stream()
            .map(column -> quoted(column.name()) + " " + column.type())
            .collect(Collectors.joining(", "));
    return key.isEmpty()
        ? text
        : text
            + key.stream()
                .map(Schema::quoted)
                .collect(Collectors.joining(", ", ", PRIMARY KEY (", ") NOT ENFORCED"));
  }

  static String quoted(String name) {
    boolean plain = PLAIN_NAME.matcher(name).matches() && !RESERVED.contains(upper(name));
    return plain ? name : "`" + name.replace("`", "``") + "`";
  }

  private static String upper(String name) {
    return name.toUpperCase(Locale.ROOT);
  }
}
