package dev.tidemark.part;

import dev.tidemark.row.ChangedCursor;
import dev.tidemark.row.RowChange;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one schema read in another. Columns are the same when their field ids are. What may have
 * changed is said by {@link SchemaChange}.
 */
final class Evolution {
  private Evolution() {}

  /**
   * Refuses to read the rows of one schema in another that asks too much of them.
   *
   * @throws IOException naming the column
   */
  static void check(Schema written, Schema wanted) throws IOException {
    for (Column column : wanted.columns()) {
      ColumnType type = typeOf(written, column.id());
      if (type == null && !column.type().nullable()) {
        throw new IOException("column " + column.name() + " is NOT NULL, and older rows lack it");
      }
      if (type != null
          && !RowChange.sameForm(type, column.type())
          && !SchemaChange.widens(type, column.type())) {
        throw new IOException("column " + column.name() + " has changed its type");
      }
    }
  }

  private static @Nullable ColumnType typeOf(Schema schema, int id) {
    for (Column column : schema.columns()) {
      if (column.id() == id) {
        return column.type();
      }
    }
    return null;
  }

  /**
   * Whether the old columns' bytes are in the new rows as they were and in their order, new columns
   * being NULL between or behind them: such rows are put together from a part's columns directly.
   */
  static boolean isPlain(Schema written, Schema wanted) {
    for (Column column : wanted.columns()) {
      ColumnType type = typeOf(written, column.id());
      if (type != null && !RowChange.sameForm(type, column.type())) {
        return false;
      }
    }
    return RowChange.keepsOrder(written, wanted);
  }

  /**
   * Whether bounds of encoded rows in the old schema say something in the new: all columns are
   * still there in their form, new ones come last.
   */
  static boolean keepsBounds(Schema written, Schema wanted) {
    List<Integer> old = ids(written);
    List<Integer> now = ids(wanted);
    return old.size() <= now.size()
        && now.subList(0, old.size()).equals(old)
        && isPlain(written, wanted);
  }

  private static List<Integer> ids(Schema schema) {
    List<Integer> ids = new ArrayList<>();
    for (int place : RowCodec.order(schema)) {
      ids.add(schema.columns().get(place).id());
    }
    return ids;
  }

  /** A run's rows in another schema, which {@link #check} has allowed. */
  static UpdateCursor recode(UpdateCursor updates, Schema written, Schema wanted) {
    return written.columns().equals(wanted.columns()) && written.key().equals(wanted.key())
        ? updates
        : new ChangedCursor(updates, written, wanted);
  }
}
