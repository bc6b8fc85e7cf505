package dev.tidemark.flink.decode;

import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.row.InvalidRowException;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** What Flink's kinds of rows do, by a table's envelope. Pure. */
final class RowKinds {
  private RowKinds() {}

  /** Whether a row of this kind is there from now on; else it is taken away. */
  static boolean adds(RowKind kind) {
    return kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
  }

  /**
   * What a row does. What envelope append refuses is for the caller to refuse.
   *
   * @param after for the row before an update: the row after it, where that has come; else null
   * @return null: nothing, as the row after it is of the same key and replaces it
   */
  static @Nullable Change change(
      Table table, RowKind kind, @Nullable Object[] row, @Nullable Object @Nullable [] after)
      throws InvalidRowException {
    boolean adds = adds(kind);
    if (table.mapping.envelope() != Envelope.UPSERT) {
      return new Change(Action.UPDATE, row, adds ? 1 : -1);
    }
    if (adds) {
      return new Change(Action.SET, row, 1);
    }
    @Nullable Object[] key = table.keyOf(row);
    boolean replaced = after != null && table.isKeyOf(key, after);
    return replaced ? null : new Change(Action.DELETE, key, 1);
  }
}
