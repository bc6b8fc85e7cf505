package dev.tidemark.part;

import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Rows of one schema read in another. Columns are the same when their field ids are. One that is
 * new reads as NULL; a string or binary may have got another length, a column may have become
 * nullable; nothing else may have changed.
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
      if (type != null && !form(type).equals(form(column.type()))) {
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

  /** A cursor's rows in another schema, which {@link #check} has allowed. */
  static UpdateCursor recode(UpdateCursor updates, Schema written, Schema wanted) {
    if (written.columns().equals(wanted.columns()) && written.key().equals(wanted.key())) {
      return updates;
    }
    int[] from = new int[wanted.columns().size()];
    for (int i = 0; i < from.length; i++) {
      Column column = wanted.columns().get(i);
      from[i] = -1;
      for (int j = 0; j < written.columns().size(); j++) {
        if (written.columns().get(j).id() == column.id()) {
          from[i] = j;
        }
      }
    }
    return new Recoded(updates, new RowCodec(written), new RowCodec(wanted), from);
  }

  private static final class Recoded implements UpdateCursor {
    private final UpdateCursor updates;
    private final RowCodec written;
    private final RowCodec wanted;
    private final int[] from;
    private byte[] row = new byte[0];

    Recoded(UpdateCursor updates, RowCodec written, RowCodec wanted, int[] from) {
      this.updates = updates;
      this.written = written;
      this.wanted = wanted;
      this.from = from;
    }

    @Override
    public boolean next() throws IOException {
      if (!updates.next()) {
        return false;
      }
      try {
        @Nullable Object[] old =
            written.decode(updates.row(), updates.rowOffset(), updates.rowLength());
        @Nullable Object[] values = new @Nullable Object[from.length];
        for (int i = 0; i < from.length; i++) {
          values[i] = from[i] < 0 ? null : old[from[i]];
        }
        row = wanted.encode(values);
        return true;
      } catch (IllegalArgumentException | InvalidRowException e) {
        throw new IOException("a row can't be read in a newer schema: " + e.getMessage(), e);
      }
    }

    @Override
    public byte[] row() {
      return row;
    }

    @Override
    public int rowOffset() {
      return 0;
    }

    @Override
    public int rowLength() {
      return row.length;
    }

    @Override
    public long time() {
      return updates.time();
    }

    @Override
    public long diff() {
      return updates.diff();
    }

    @Override
    public void close() throws IOException {
      updates.close();
    }

    @Override
    public String toString() {
      return updates.toString();
    }
  }
}
