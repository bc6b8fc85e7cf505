package dev.tidemark.part;

import dev.tidemark.row.RowEncoder;
import dev.tidemark.schema.ColumnType;
import java.io.IOException;

/** Readers of the fields that are leaf columns, by how the file and the encoded row hold them. */
final class LeafReaders {
  private LeafReaders() {}

  static FieldReader of(ColumnType type, ColumnValues column) {
    return switch (type.kind()) {
      case BOOLEAN -> new OfBoolean(column);
      case TINYINT -> new OfTinyint(column);
      case SMALLINT -> new OfSmallint(column);
      case INT, DATE, TIME -> new OfInt(column);
      case BIGINT, TIMESTAMP, TIMESTAMP_LTZ -> new OfLong(column);
      case FLOAT -> new OfFloat(column);
      case DOUBLE -> new OfDouble(column);
      case DECIMAL ->
          type.precision() <= 9
              ? new OfSmallDecimal(column)
              : type.precision() <= 18
                  ? new OfLong(column)
                  : new OfDecimal(column, PartSchema.decimalBytes(type.precision()));
      case CHAR, VARCHAR, BINARY, VARBINARY -> new OfBytes(column);
      case ARRAY, MAP, ROW -> throw new IllegalArgumentException(type.kind() + " is no leaf");
    };
  }

  private abstract static class Leaf extends FieldReader {
    final ColumnValues column;

    Leaf(ColumnValues column) {
      this.column = column;
    }

    @Override
    final void read(RowEncoder out) throws IOException {
      if (column.advance()) {
        value(out);
      } else {
        out.addNull();
      }
    }

    @Override
    final void skip() throws IOException {
      if (column.advance()) {
        throw new IOException("the levels of two columns contradict each other");
      }
    }

    @Override
    final ColumnValues first() {
      return column;
    }

    abstract void value(RowEncoder out) throws IOException;
  }

  private static final class OfBoolean extends Leaf {
    OfBoolean(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addBoolean(column.takeBoolean());
    }
  }

  private static final class OfTinyint extends Leaf {
    OfTinyint(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addTinyint((byte) column.takeInt());
    }
  }

  private static final class OfSmallint extends Leaf {
    OfSmallint(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addSmallint((short) column.takeInt());
    }
  }

  private static final class OfInt extends Leaf {
    OfInt(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addInt(column.takeInt());
    }
  }

  private static final class OfLong extends Leaf {
    OfLong(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addLong(column.takeLong());
    }
  }

  private static final class OfFloat extends Leaf {
    OfFloat(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addFloat(Float.intBitsToFloat(column.takeInt()));
    }
  }

  private static final class OfDouble extends Leaf {
    OfDouble(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addDouble(Double.longBitsToDouble(column.takeLong()));
    }
  }

  private static final class OfSmallDecimal extends Leaf {
    OfSmallDecimal(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      out.addLong(column.takeInt());
    }
  }

  private static final class OfDecimal extends Leaf {
    private final int size;

    OfDecimal(ColumnValues column, int size) {
      super(column);
      this.size = size;
    }

    @Override
    void value(RowEncoder out) throws IOException {
      int at = column.takeFixed(size);
      byte[] page = column.page();
      long high = page[at] < 0 ? -1 : 0;
      long low = high;
      for (int i = 0; i < size; i++) {
        high = (high << 8) | (low >>> 56);
        low = (low << 8) | (page[at + i] & 0xFF);
      }
      out.addDecimal(high, low);
    }
  }

  private static final class OfBytes extends Leaf {
    OfBytes(ColumnValues column) {
      super(column);
    }

    @Override
    void value(RowEncoder out) throws IOException {
      int size = column.takeInt();
      int at = column.takeFixed(size);
      out.addBytes(column.page(), at, size);
    }
  }
}
