package dev.tidemark.part;

import dev.tidemark.row.Memcomparable;
import java.io.IOException;

/** Writers of the fields that are leaf columns, by how the encoded row and the file hold them. */
final class LeafWriters {
  private LeafWriters() {}

  private abstract static class Leaf extends FieldWriter {
    final ColumnPages column;
    private final boolean nullable;

    Leaf(boolean nullable, ColumnPages column) {
      this.nullable = nullable;
      this.column = column;
    }

    @Override
    final void write(RowScan in, int repetition, int definition) throws IOException {
      if (in.take() == Memcomparable.NULL) {
        if (!nullable) {
          throw nullInNotNull();
        }
        in.counted++;
        column.absent(repetition, definition);
      } else {
        column.present(repetition);
        value(in);
      }
    }

    @Override
    final void absent(int repetition, int definition) throws IOException {
      column.absent(repetition, definition);
    }

    abstract void value(RowScan in) throws IOException;
  }

  static final class OfBoolean extends Leaf {
    OfBoolean(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addBoolean(in.bytes[in.take(1, 1)] != 0);
    }
  }

  static final class OfTinyint extends Leaf {
    OfTinyint(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addInt((byte) (in.bytes[in.take(1, 4)] ^ 0x80));
    }
  }

  static final class OfSmallint extends Leaf {
    OfSmallint(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addInt(Memcomparable.shortAt(in.bytes, in.take(2, 4)));
    }
  }

  static final class OfInt extends Leaf {
    OfInt(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addInt(Memcomparable.intAt(in.bytes, in.take(4, 4)));
    }
  }

  static final class OfLong extends Leaf {
    OfLong(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addLong(Memcomparable.longAt(in.bytes, in.take(8, 8)));
    }
  }

  static final class OfFloat extends Leaf {
    OfFloat(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addFloatBits(Memcomparable.floatBitsAt(in.bytes, in.take(4, 4)));
    }
  }

  static final class OfDouble extends Leaf {
    OfDouble(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addDoubleBits(Memcomparable.doubleBitsAt(in.bytes, in.take(8, 8)));
    }
  }

  /** A DECIMAL of at most 9 digits. */
  static final class OfSmallDecimal extends Leaf {
    OfSmallDecimal(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      column.addInt((int) Memcomparable.longAt(in.bytes, in.take(8, 4)));
    }
  }

  /** A DECIMAL of more than 18 digits. */
  static final class OfDecimal extends Leaf {
    private final byte[] scratch = new byte[16];
    private final int size;

    OfDecimal(boolean nullable, ColumnPages column, int size) {
      super(nullable, column);
      this.size = size;
    }

    @Override
    void value(RowScan in) throws IOException {
      System.arraycopy(in.bytes, in.take(16, 16), scratch, 0, 16);
      scratch[0] ^= (byte) 0x80;
      column.addFixed(scratch, 16 - size, size);
    }
  }

  static final class OfBytes extends Leaf {
    OfBytes(boolean nullable, ColumnPages column) {
      super(nullable, column);
    }

    @Override
    void value(RowScan in) throws IOException {
      byte[] row = in.bytes;
      int from = in.position;
      int zero = Memcomparable.zeroAt(row, from, in.limit);
      int start = column.beginBytes(zero - from);
      System.arraycopy(row, from, column.bytes(), start, zero - from);
      int size = zero - from;
      while (!Memcomparable.endsAt(row, zero)) {
        from = zero + 2;
        zero = Memcomparable.zeroAt(row, from, in.limit);
        start = column.beginBytes(size + 1 + zero - from);
        byte[] to = column.bytes();
        to[start + size] = 0;
        System.arraycopy(row, from, to, start + size + 1, zero - from);
        size += 1 + zero - from;
      }
      in.position = zero + 2;
      in.counted += 4L + size;
      column.endBytes(size);
    }
  }
}
