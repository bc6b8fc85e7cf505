package dev.tidemark.schema;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a shard's schema when a job declares columns: nothing, the next schema, or a
 * refusal that names the column.
 *
 * <p>A schema may get a column that may be NULL, wherever it stands; lose one; let a column be
 * NULL; widen INT to BIGINT, FLOAT to DOUBLE, a DECIMAL's digits before the point, the length of
 * VARCHAR and VARBINARY. Rows keep their order under all of these but the loss of a column, so a
 * shard whose rows are ordered by all columns, having no key, loses none. The key stays.
 *
 * @param next the schema from now on; where nothing changes, the newest; null: refused
 * @param refusal why not, naming the column; null: it may be
 */
public record SchemaChange(@Nullable Schema next, @Nullable String refusal) {

  /**
   * Decides.
   *
   * @param known the shard's schemas, the newest last: a field id of any of them isn't used again
   * @param declared the columns that the job declares, by name; their ids mean nothing
   */
  public static SchemaChange of(List<Schema> known, Schema declared) {
    Schema newest = known.get(known.size() - 1);
    String refusal = refusal(newest, declared);
    if (refusal != null) {
      return new SchemaChange(null, refusal);
    }
    int lastId = 0;
    for (Schema schema : known) {
      for (Column column : schema.columns()) {
        lastId = Math.max(lastId, column.id());
      }
    }
    Map<String, Column> old = byName(newest);
    List<Column> columns = new ArrayList<>();
    for (Column column : declared.columns()) {
      Column was = old.get(column.name());
      columns.add(new Column(was == null ? ++lastId : was.id(), column.name(), column.type()));
    }
    return columns.equals(newest.columns())
        ? new SchemaChange(newest, null)
        : new SchemaChange(new Schema(newest.id() + 1, columns, newest.key()), null);
  }

  private static Map<String, Column> byName(Schema schema) {
    Map<String, Column> columns = new HashMap<>();
    schema.columns().forEach(column -> columns.put(column.name(), column));
    return columns;
  }

  private static @Nullable String refusal(Schema old, Schema declared) {
    if (!old.key().equals(declared.key())) {
      return "the key is " + old.key() + " and can't become " + declared.key();
    }
    Map<String, Column> before = byName(old);
    Map<String, Column> after = byName(declared);
    for (Column column : old.columns()) {
      Column now = after.get(column.name());
      if (now == null && old.key().isEmpty()) {
        return "column "
            + column.name()
            + " can't be dropped: without a PRIMARY KEY rows are ordered by all columns";
      }
      String refusal = now == null ? null : refusal(column, now, old.key());
      if (refusal != null) {
        return refusal;
      }
    }
    String last = null;
    int lastPlace = -1;
    for (Column column : declared.columns()) {
      Column was = before.get(column.name());
      if (was == null && !column.type().nullable()) {
        return "column "
            + column.name()
            + " is new and NOT NULL, but the rows that are there have no value of it; let it be"
            + " NULL";
      }
      int place = was == null ? lastPlace : old.columns().indexOf(was);
      if (place < lastPlace) {
        return "column " + column.name() + " can't move behind " + last + "; keep the order";
      }
      if (was != null) {
        last = column.name();
        lastPlace = place;
      }
    }
    return null;
  }

  private static @Nullable String refusal(Column old, Column now, List<String> key) {
    if (old.type().nullable() && !now.type().nullable()) {
      return "column " + old.name() + " can't become NOT NULL";
    }
    ColumnType from = old.type().withNullable(true);
    ColumnType to = now.type().withNullable(true);
    boolean length = isLonger(from, to);
    if (from.equals(to) || length || widens(from, to)) {
      return key.contains(old.name()) && !from.equals(to) && !length
          ? "column " + old.name() + " belongs to the key: its type can't change"
          : null;
    }
    return "column " + old.name() + " can't become " + now.type() + " from " + old.type();
  }

  private static boolean isLonger(ColumnType from, ColumnType to) {
    return from.kind() == to.kind()
        && (from.kind() == ColumnType.Kind.VARCHAR || from.kind() == ColumnType.Kind.VARBINARY)
        && to.precision() > from.precision();
  }

  /** Whether each value of a type is one of another that takes more, and so can be read as it. */
  public static boolean widens(ColumnType from, ColumnType to) {
    return (from.kind() == ColumnType.Kind.INT && to.kind() == ColumnType.Kind.BIGINT)
        || (from.kind() == ColumnType.Kind.FLOAT && to.kind() == ColumnType.Kind.DOUBLE)
        || (from.kind() == ColumnType.Kind.DECIMAL
            && to.kind() == ColumnType.Kind.DECIMAL
            && to.scale() == from.scale()
            && to.precision() > from.precision());
  }
}
