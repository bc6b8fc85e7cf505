package dev.tidemark.flink.decode;

import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.row.InvalidRowException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Records of a format of Flink's: what rows one has, and of which kinds, is for the format to say,
 * and what they mean for the envelope. A record's rows have one time, the latest of theirs.
 */
final class FlinkDecoder implements RecordDecoder {
  private final Tables tables;
  private final String format;
  private final List<DeserializationSchema<RowData>> readers;
  private final List<FlinkRows> rows;
  private final List<Row> found = new ArrayList<>();
  private @Nullable InvalidRowException misfit;

  /** A row of a record, with its kind. */
  private static final class Row {
    private final RowKind kind;
    private final @Nullable Object[] values;

    Row(RowKind kind, @Nullable Object[] values) {
      this.kind = kind;
      this.values = values;
    }
  }

  /**
   * A decoder.
   *
   * @param readers one for each of the tables, opened, in their order
   */
  FlinkDecoder(Tables tables, String format, List<DeserializationSchema<RowData>> readers) {
    this.tables = tables;
    this.format = format;
    this.readers = readers;
    this.rows = tables.all().stream().map(table -> new FlinkRows(table.schema)).toList();
  }

  @Override
  public Decoded decode(RawRecord record) {
    Table table = tables.find(record.topic);
    if (table == null) {
      return new Decoded.Unmatched(String.valueOf(record.topic));
    }
    byte[] value = record.value;
    if (value == null || (record.topic == null && JsonText.isBlank(value))) {
      return Decoded.IGNORED;
    }
    try {
      read(table, value);
      return found.isEmpty() ? Decoded.IGNORED : rows(record, table);
    } catch (InvalidRowException e) {
      return new Decoded.Failure(
          table, table.name, String.valueOf(e.getMessage()), record.timestampMillis);
    } finally {
      found.clear();
    }
  }

  private void read(Table table, byte[] value) throws InvalidRowException {
    DeserializationSchema<RowData> reader = readers.get(tables.all().indexOf(table));
    misfit = null;
    try {
      reader.deserialize(value, new Rows(table));
    } catch (Exception e) {
      // What the format says of it may quote it, and reasons don't hold content.
      Throwable root = e;
      while (root.getCause() != null && root.getCause() != root) {
        root = root.getCause();
      }
      throw new InvalidRowException(
          "the format " + format + " can't read it: " + root.getClass().getSimpleName());
    }
    if (misfit != null) {
      throw misfit;
    }
  }

  /**
   * Takes a row while it is there: formats use the same one again. It throws nothing: a format that
   * puts up with what it can't read would take that for its own.
   */
  private final class Rows implements Collector<RowData> {
    private final Table table;

    Rows(Table table) {
      this.table = table;
    }

    @Override
    public void collect(RowData row) {
      try {
        @Nullable Object[] values = rows.get(tables.all().indexOf(table)).values(row);
        boolean[] present = new boolean[values.length];
        Arrays.fill(present, true);
        table.checkNulls(values, present, new BitSet());
        found.add(new Row(row.getRowKind(), values));
      } catch (InvalidRowException e) {
        misfit = e;
      }
    }

    @Override
    public void close() {}
  }

  private Decoded rows(RawRecord record, Table table) throws InvalidRowException {
    List<Change> changes = new ArrayList<>();
    long time = Long.MIN_VALUE;
    for (int i = 0; i < found.size(); i++) {
      Row row = found.get(i);
      time =
          Math.max(
              time, table.timeColumn < 0 ? record.timestampMillis : table.eventTime(row.values));
      refuseInAppend(table, row);
      Change change = RowKinds.change(table, row.kind, row.values, after(row, i));
      if (change != null) {
        changes.add(change);
      }
    }
    return changes.isEmpty()
        ? Decoded.IGNORED
        : new Decoded.Rows(table, changes, time, JsonDecoder.ordered(table), 0);
  }

  private static void refuseInAppend(Table table, Row row) throws InvalidRowException {
    if (table.mapping.envelope() == Envelope.APPEND && row.kind != RowKind.INSERT) {
      throw new InvalidRowException(
          "an update or delete, but envelope is append; take changelog or upsert for "
              + table.name);
    }
  }

  /** The row after the update that this one was before; null: it is none, or it lacks it. */
  private @Nullable Object @Nullable [] after(Row row, int index) {
    if (row.kind != RowKind.UPDATE_BEFORE || index + 1 == found.size()) {
      return null;
    }
    Row next = found.get(index + 1);
    return next.kind == RowKind.UPDATE_AFTER ? next.values : null;
  }
}
