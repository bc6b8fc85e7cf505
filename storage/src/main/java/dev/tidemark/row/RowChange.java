package dev.tidemark.row;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one schema of a shard in the form of another. Columns are the same when their field ids
 * are: one that is new reads as NULL, one that is gone is left out, a value of a narrower type is
 * one of the wider.
 */
public final class RowChange {
  private final RowCodec written;
  private final RowCodec wanted;
  private final int[] from;

  /** From the one to the other, which {@link dev.tidemark.schema.SchemaChange} has allowed. */
  public RowChange(Schema written, Schema wanted) {
    this.written = new RowCodec(written);
    this.wanted = new RowCodec(wanted);
    this.from = new int[wanted.columns().size()];
    for (int i = 0; i < from.length; i++) {
      from[i] = placeOf(wanted.columns().get(i).id(), written.columns());
    }
  }

  private static int placeOf(int id, List<Column> columns) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).id() == id) {
        return i;
      }
    }
    return -1;
  }

  /**
   * A row in the wanted form.
   *
   * @throws InvalidRowException when a value doesn't fit
   * @throws IllegalArgumentException when the bytes are no row of the schema they were written in
   */
  public byte[] apply(byte[] row, int offset, int length) throws InvalidRowException {
    @Nullable Object[] old = written.decode(row, offset, length);
    @Nullable Object[] values = new @Nullable Object[from.length];
    for (int i = 0; i < from.length; i++) {
      values[i] = from[i] < 0 ? null : old[from[i]];
    }
    return wanted.encode(values);
  }

  /** Where a column of the old schema stands in the new one; -1: nowhere. */
  public int place(int old) {
    for (int i = 0; i < from.length; i++) {
      if (from[i] == old) {
        return i;
      }
    }
    return -1;
  }

  /** The length of the key of a row in the old form. */
  int keyLength(byte[] row, int offset, int length) {
    return written.keyLength(row, offset, length);
  }

  /**
   * Whether all rows that stand in order in the one schema do so in the other: no column is gone
   * from among those by which they are ordered.
   */
  public static boolean keepsOrder(Schema written, Schema wanted) {
    return written.columns().stream()
        .allMatch(column -> placeOf(column.id(), wanted.columns()) >= 0);
  }

  /** Whether a column's values have the same bytes in both types. */
  public static boolean sameForm(ColumnType one, ColumnType other) {
    return form(one).equals(form(other));
  }

  private static ColumnType form(ColumnType type) {
    return switch (type.kind()) {
      case CHAR, VARCHAR -> ColumnType.of(ColumnType.Kind.VARCHAR, true);
      case BINARY, VARBINARY -> ColumnType.of(ColumnType.Kind.VARBINARY, true);
      case BOOLEAN,
          TINYINT,
          SMALLINT,
          INT,
          BIGINT,
          FLOAT,
          DOUBLE,
          DECIMAL,
          DATE,
          TIME,
          TIMESTAMP,
          TIMESTAMP_LTZ,
          ARRAY,
          MAP,
          ROW ->
          type.withNullable(true);
    };
  }
}
