package dev.tidemark.flink.decode;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.decode.TableMapping.Match;
import dev.tidemark.flink.decode.TableMapping.MatchKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The tables of a job, by what tells their records apart. */
final class Tables {
  private final List<Table> all = new ArrayList<>();
  private final Map<String, Table> byValue = new HashMap<>();
  private @Nullable Match match;

  /**
   * The tables of these mappings.
   *
   * @throws IllegalArgumentException naming the mend, when they don't go together
   */
  Tables(List<TableMapping> mappings, List<ShardTarget> targets) {
    if (mappings.isEmpty()) {
      throw new IllegalArgumentException("tables: name at least one");
    }
    for (TableMapping mapping : mappings) {
      Table table = new Table(mapping, targets.get(mapping.shard()));
      all.add(table);
      Match its = mapping.match();
      if (its == null) {
        if (mappings.size() > 1) {
          throw new IllegalArgumentException(
              "tables: " + table.name + " needs a match, since there are several");
        }
        continue;
      }
      if (match != null && (its.kind() != match.kind() || !its.column().equals(match.column()))) {
        throw new IllegalArgumentException(
            "tables: all must match by the same, table, topic or one column; "
                + table.name
                + " differs");
      }
      match = its;
      if (byValue.put(its.value(), table) != null) {
        throw new IllegalArgumentException("tables: two shards match " + its.value());
      }
    }
  }

  List<Table> all() {
    return all;
  }

  /** Whose errors are those of records that name no table: the first shard's. */
  Table first() {
    return all.get(0);
  }

  /** By what records are told apart; null: there is only one table. */
  @Nullable MatchKind kind() {
    return match == null ? null : match.kind();
  }

  /** The column by which records are told apart. */
  String matchColumn() {
    return match == null ? "" : match.column();
  }

  /** The one table of a job whose records aren't told apart, else the one that matches. */
  @Nullable Table find(@Nullable String value) {
    return match == null ? first() : value == null ? null : byValue.get(value);
  }

  /**
   * The table whose database name ends in {@code .name}, for inputs that leave the schema out; null
   * where there is none or more than one.
   */
  @Nullable Table findByLastName(String lastName) {
    Table found = byValue.get(lastName);
    if (found != null) {
      return found;
    }
    for (Map.Entry<String, Table> entry : byValue.entrySet()) {
      if (entry.getKey().endsWith("." + lastName)) {
        if (found != null) {
          return null;
        }
        found = entry.getValue();
      }
    }
    return found;
  }
}
