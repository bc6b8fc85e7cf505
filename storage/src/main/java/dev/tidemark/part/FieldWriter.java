package dev.tidemark.part;

import dev.tidemark.row.Memcomparable;
import dev.tidemark.schema.ColumnType;
import java.io.IOException;

/** Takes one field of an encoded row apart into the leaf columns of a part. */
abstract class FieldWriter {
  /** Writes the field at the scan's place, marker first. */
  abstract void write(RowScan in, int repetition, int definition) throws IOException;

  /** Says in each leaf below that nothing comes at this level. */
  abstract void absent(int repetition, int definition) throws IOException;

  static IOException nullInNotNull() {
    return new IOException("a row has NULL in a column that is NOT NULL");
  }

  /** The leaves of a field in the order of the file. */
  interface Leaves {
    ColumnPages next();
  }

  static FieldWriter of(ColumnType type, int repetition, Leaves leaves) {
    boolean nullable = type.nullable();
    return switch (type.kind()) {
      case BOOLEAN,
          TINYINT,
          SMALLINT,
          INT,
          DATE,
          TIME,
          BIGINT,
          TIMESTAMP,
          TIMESTAMP_LTZ,
          FLOAT,
          DOUBLE,
          DECIMAL,
          CHAR,
          VARCHAR,
          BINARY,
          VARBINARY ->
          leaf(type, leaves.next());
      case ARRAY ->
          new Repeated(
              nullable,
              repetition + 1,
              new FieldWriter[] {of(type.children().get(0), repetition + 1, leaves)});
      case MAP ->
          new Repeated(
              nullable,
              repetition + 1,
              new FieldWriter[] {
                of(type.children().get(0).withNullable(false), repetition + 1, leaves),
                of(type.children().get(1), repetition + 1, leaves)
              });
      case ROW -> {
        FieldWriter[] fields = new FieldWriter[type.children().size()];
        for (int i = 0; i < fields.length; i++) {
          fields[i] = of(type.children().get(i), repetition, leaves);
        }
        yield new Group(nullable, fields);
      }
    };
  }

  private static FieldWriter leaf(ColumnType type, ColumnPages column) {
    boolean nullable = type.nullable();
    return switch (type.kind()) {
      case BOOLEAN -> new LeafWriters.OfBoolean(nullable, column);
      case TINYINT -> new LeafWriters.OfTinyint(nullable, column);
      case SMALLINT -> new LeafWriters.OfSmallint(nullable, column);
      case INT, DATE, TIME -> new LeafWriters.OfInt(nullable, column);
      case BIGINT, TIMESTAMP, TIMESTAMP_LTZ -> new LeafWriters.OfLong(nullable, column);
      case FLOAT -> new LeafWriters.OfFloat(nullable, column);
      case DOUBLE -> new LeafWriters.OfDouble(nullable, column);
      case DECIMAL ->
          type.precision() <= 9
              ? new LeafWriters.OfSmallDecimal(nullable, column)
              : type.precision() <= 18
                  ? new LeafWriters.OfLong(nullable, column)
                  : new LeafWriters.OfDecimal(
                      nullable, column, PartSchema.decimalBytes(type.precision()));
      case CHAR, VARCHAR, BINARY, VARBINARY -> new LeafWriters.OfBytes(nullable, column);
      case ARRAY, MAP, ROW -> throw new IllegalArgumentException(type.kind() + " is no leaf");
    };
  }

  /** A ROW. */
  private static final class Group extends FieldWriter {
    private final boolean nullable;
    private final FieldWriter[] fields;

    Group(boolean nullable, FieldWriter[] fields) {
      this.nullable = nullable;
      this.fields = fields;
    }

    @Override
    void write(RowScan in, int repetition, int definition) throws IOException {
      if (in.take() == Memcomparable.NULL) {
        if (!nullable) {
          throw nullInNotNull();
        }
        in.counted++;
        absent(repetition, definition);
        return;
      }
      in.counted += 4;
      for (FieldWriter field : fields) {
        field.write(in, repetition, nullable ? definition + 1 : definition);
      }
    }

    @Override
    void absent(int repetition, int definition) throws IOException {
      for (FieldWriter field : fields) {
        field.absent(repetition, definition);
      }
    }
  }

  /** An ARRAY (of one field) or MAP (of two). */
  private static final class Repeated extends FieldWriter {
    private final boolean nullable;
    private final int level;
    private final FieldWriter[] fields;

    Repeated(boolean nullable, int level, FieldWriter[] fields) {
      this.nullable = nullable;
      this.level = level;
      this.fields = fields;
    }

    @Override
    void write(RowScan in, int repetition, int definition) throws IOException {
      if (in.take() == Memcomparable.NULL) {
        if (!nullable) {
          throw nullInNotNull();
        }
        in.counted++;
        absent(repetition, definition);
        return;
      }
      in.counted += 4;
      int empty = nullable ? definition + 1 : definition;
      if (in.take() == Memcomparable.END) {
        absent(repetition, empty);
        return;
      }
      int at = repetition;
      do {
        for (FieldWriter field : fields) {
          field.write(in, at, empty + 1);
        }
        at = level;
      } while (in.take() != Memcomparable.END);
    }

    @Override
    void absent(int repetition, int definition) throws IOException {
      for (FieldWriter field : fields) {
        field.absent(repetition, definition);
      }
    }
  }
}
