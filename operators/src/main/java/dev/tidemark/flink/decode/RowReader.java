package dev.tidemark.flink.decode;

import dev.tidemark.row.InvalidRowException;
import dev.tidemark.schema.Schema;
import java.io.Serializable;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a program's own stream.
 *
 * @param <T> what the stream has
 */
public interface RowReader<T> extends Serializable {
  /** What the row does. */
  RowKind kind(T row);

  /**
   * Its values in the order of a schema's columns.
   *
   * @throws InvalidRowException naming the column and what is wrong with it
   */
  @Nullable Object[] values(T row) throws InvalidRowException;

  /** Reads {@link Row}s, whose fields are Java's own classes. */
  static RowReader<Row> ofRows(Schema schema) {
    return new RowReader<>() {
      private static final long serialVersionUID = 1L;

      @Override
      public RowKind kind(Row row) {
        return row.getKind();
      }

      @Override
      public @Nullable Object[] values(Row row) throws InvalidRowException {
        return JavaRows.values(schema, row);
      }
    };
  }

  /** Reads {@link RowData}, the rows of Flink's tables. */
  static RowReader<RowData> ofRowData(Schema schema) {
    return new RowReader<>() {
      private static final long serialVersionUID = 1L;

      private transient @Nullable FlinkRows rows;

      @Override
      public RowKind kind(RowData row) {
        return row.getRowKind();
      }

      @Override
      public @Nullable Object[] values(RowData row) throws InvalidRowException {
        if (row.getArity() != schema.columns().size()) {
          throw new InvalidRowException(
              "a row of " + row.getArity() + " fields for " + schema.columns().size() + " columns");
        }
        if (rows == null) {
          rows = new FlinkRows(schema);
        }
        return rows.values(row);
      }
    };
  }
}
