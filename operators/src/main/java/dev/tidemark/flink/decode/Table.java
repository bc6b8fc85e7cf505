package dev.tidemark.flink.decode;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType.Kind;
import dev.tidemark.schema.Schema;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A shard as the decoder sees it: its columns by name, its key, its time column. */
final class Table {
  final TableMapping mapping;
  final String name;
  final Schema schema;
  final RowCodec codec;

  /** {@link KeyedRow#form} of its schema. */
  final int form;

  /** The indexes of the key's columns, in key order. */
  final int[] keyColumns;

  /** The index of the column that holds a row's time; -1: the time is in the metadata. */
  final int timeColumn;

  private final RowCodec keyCodec;
  private @Nullable RowCodec partCodec;
  private final Map<String, Integer> columns = new HashMap<>();

  /**
   * A shard's table.
   *
   * @throws IllegalArgumentException naming the mend, when mapping and schema don't go together
   */
  Table(TableMapping mapping, ShardTarget target) {
    this.mapping = mapping;
    this.name = target.name();
    this.schema = target.schema();
    this.codec = new RowCodec(schema);
    this.form = KeyedRow.form(schema);
    for (int i = 0; i < schema.columns().size(); i++) {
      columns.put(schema.columns().get(i).name(), i);
    }
    this.keyColumns = schema.key().stream().mapToInt(this::columnOrThrow).toArray();
    List<Column> key = new ArrayList<>();
    for (int column : keyColumns) {
      key.add(schema.columns().get(column));
    }
    this.keyCodec = key.isEmpty() ? codec : new RowCodec(new Schema(1, key, schema.key()));
    String timeName = mapping.eventTimeColumn();
    this.timeColumn = timeName == null ? -1 : columnOrThrow(timeName);
    if (timeName != null) {
      Kind kind = schema.columns().get(timeColumn).type().kind();
      if (kind != Kind.BIGINT && kind != Kind.TIMESTAMP && kind != Kind.TIMESTAMP_LTZ) {
        throw new IllegalArgumentException(
            "event-time of "
                + name
                + ": column "
                + timeName
                + " is "
                + kind
                + "; it must be BIGINT (milliseconds), TIMESTAMP or TIMESTAMP_LTZ");
      }
    }
    if (mapping.envelope() == Envelope.UPSERT && keyColumns.length == 0) {
      throw new IllegalArgumentException(
          "envelope upsert of " + name + " needs a PRIMARY KEY in its schema");
    }
  }

  /** The index of a column; -1: none of that name. */
  int column(String columnName) {
    return columns.getOrDefault(columnName, -1);
  }

  private int columnOrThrow(String columnName) {
    int index = column(columnName);
    if (index < 0) {
      throw new IllegalArgumentException("schema of " + name + " has no column " + columnName);
    }
    return index;
  }

  /** The encoded key, by its values in key order. */
  byte[] encodeKey(@Nullable Object[] values) throws InvalidRowException {
    return keyCodec.encode(values);
  }

  /** An encoded row, whole but for these columns: the form is the same, NULL in their place. */
  byte[] encodePart(@Nullable Object[] row) throws InvalidRowException {
    if (partCodec == null) {
      List<Column> columns =
          schema.columns().stream()
              .map(
                  column ->
                      new Column(column.id(), column.name(), column.type().withNullable(true)))
              .toList();
      partCodec = new RowCodec(new Schema(schema.id(), columns, schema.key()));
    }
    return partCodec.encode(row);
  }

  /** The key's values of a row, in key order. */
  @Nullable Object[] keyOf(@Nullable Object[] row) {
    @Nullable Object[] key = new @Nullable Object[keyColumns.length];
    for (int i = 0; i < key.length; i++) {
      key[i] = row[keyColumns[i]];
    }
    return key;
  }

  /** Whether these are the key's values of a row, -0.0 being 0.0. */
  boolean isKeyOf(@Nullable Object[] key, @Nullable Object[] row) throws InvalidRowException {
    return Arrays.equals(encodeKey(key), encodeKey(keyOf(row)));
  }

  /** A row's time by its column, in milliseconds rounded down. */
  long eventTime(@Nullable Object[] row) throws InvalidRowException {
    Object value = row[timeColumn];
    try {
      if (value instanceof Long millis) {
        return millis;
      }
      if (value instanceof LocalDateTime local) {
        return local.toInstant(ZoneOffset.UTC).toEpochMilli();
      }
      if (value instanceof Instant instant) {
        return instant.toEpochMilli();
      }
    } catch (ArithmeticException e) {
      throw new InvalidRowException(column(timeColumn) + "out of the range of times");
    }
    throw new InvalidRowException(column(timeColumn) + "NULL, but it holds the row's time");
  }

  /** How the reasons of errors in a column begin. */
  String column(int index) {
    return "column " + schema.columns().get(index).name() + " of " + name + ": ";
  }

  /**
   * Refuses NULL where the schema does.
   *
   * @param missing the columns whose values are not known here
   */
  void checkNulls(@Nullable Object[] row, boolean[] present, BitSet missing)
      throws InvalidRowException {
    for (int i = 0; i < row.length; i++) {
      if (row[i] == null && !missing.get(i) && !schema.columns().get(i).type().nullable()) {
        throw new InvalidRowException(
            column(i) + (present[i] ? "NULL" : "missing") + ", but the column is NOT NULL");
      }
    }
  }
}
