package dev.tidemark.part;

import dev.tidemark.row.Memcomparable;
import dev.tidemark.row.RowEncoder;
import dev.tidemark.schema.ColumnType;
import java.io.IOException;

/** Puts one field of an encoded row together from the leaf columns of a part. */
abstract class FieldReader {
  /** A field that the part lacks. */
  static final FieldReader MISSING =
      new FieldReader() {
        @Override
        void read(RowEncoder out) {
          out.addNull();
        }

        @Override
        void skip() {}

        @Override
        ColumnValues first() {
          throw new IllegalStateException("no leaf");
        }
      };

  /** Adds the next value of the field. */
  abstract void read(RowEncoder out) throws IOException;

  /** Moves over one entry that holds no value in each leaf below. */
  abstract void skip() throws IOException;

  /** The first leaf below, whose levels tell whether and how often something is there. */
  abstract ColumnValues first();

  /** The leaves of a field in the order of the file. */
  interface Leaves {
    ColumnValues next();
  }

  static FieldReader of(ColumnType type, int repetition, int definition, Leaves leaves) {
    int present = type.nullable() ? definition + 1 : definition;
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
          LeafReaders.of(type, leaves.next());
      case ARRAY ->
          new Repeated(
              present,
              repetition + 1,
              new FieldReader[] {of(type.children().get(0), repetition + 1, present + 1, leaves)});
      case MAP ->
          new Repeated(
              present,
              repetition + 1,
              new FieldReader[] {
                of(type.children().get(0).withNullable(false), repetition + 1, present + 1, leaves),
                of(type.children().get(1), repetition + 1, present + 1, leaves)
              });
      case ROW -> {
        FieldReader[] fields = new FieldReader[type.children().size()];
        for (int i = 0; i < fields.length; i++) {
          fields[i] = of(type.children().get(i), repetition, present, leaves);
        }
        yield new Group(present, fields);
      }
    };
  }

  private static void skipAll(FieldReader[] fields) throws IOException {
    for (FieldReader field : fields) {
      field.skip();
    }
  }

  /** A ROW, there from a definition level on. */
  private static final class Group extends FieldReader {
    private final int present;
    private final FieldReader[] fields;

    Group(int present, FieldReader[] fields) {
      this.present = present;
      this.fields = fields;
    }

    @Override
    void read(RowEncoder out) throws IOException {
      if (first().peekDefinition() < present) {
        out.addNull();
        skipAll(fields);
        return;
      }
      out.addRaw(Memcomparable.VALUE);
      for (FieldReader field : fields) {
        field.read(out);
      }
    }

    @Override
    void skip() throws IOException {
      skipAll(fields);
    }

    @Override
    ColumnValues first() {
      return fields[0].first();
    }
  }

  /** An ARRAY or MAP, there from a definition level on; its elements from the next. */
  private static final class Repeated extends FieldReader {
    private final int present;
    private final int level;
    private final FieldReader[] fields;

    Repeated(int present, int level, FieldReader[] fields) {
      this.present = present;
      this.level = level;
      this.fields = fields;
    }

    @Override
    void read(RowEncoder out) throws IOException {
      int definition = first().peekDefinition();
      if (definition < present) {
        out.addNull();
        skipAll(fields);
        return;
      }
      out.addRaw(Memcomparable.VALUE);
      if (definition == present) {
        skipAll(fields);
      } else {
        do {
          out.addRaw(Memcomparable.MORE);
          for (FieldReader field : fields) {
            field.read(out);
          }
        } while (first().peekRepetition() == level);
      }
      out.addRaw(Memcomparable.END);
    }

    @Override
    void skip() throws IOException {
      skipAll(fields);
    }

    @Override
    ColumnValues first() {
      return fields[0].first();
    }
  }
}
