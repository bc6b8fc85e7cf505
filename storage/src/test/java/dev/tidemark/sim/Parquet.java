package dev.tidemark.sim;

import dev.tidemark.part.PartStore;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.store.Body;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Simulated rows in real parts, for the histories in which the real readers and merges take part.
 */
final class Parquet {
  /** The shard's id in every history. */
  static final String SHARD = "sim";

  static final Schema SCHEMA =
      new Schema(
          1,
          List.of(new Column(1, "row", ColumnType.of(ColumnType.Kind.BIGINT, false))),
          List.of());

  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final int TARGET_BYTES = 1 << 20;
  private static final RowCodec CODEC = new RowCodec(SCHEMA);
  private static final RowCodec ERRORS = new RowCodec(ErrorRows.SCHEMA);

  private Parquet() {}

  static PartStore parts(ObjectStore store, PartStore.KeySource keys) {
    return new PartStore(store, SHARD, TARGET_BYTES, keys);
  }

  /** Uploads some updates as one part; error rows have the schema of error rows. */
  static Part write(Host host, List<Update> updates) throws IOException {
    Schema schema = Rows.isError(updates.get(0)) ? ErrorRows.SCHEMA : SCHEMA;
    RowBuffer buffer = new RowBuffer();
    for (Update update : updates) {
      byte[] row = encode(update);
      buffer.add(row, 0, row.length, update.time(), update.diff());
    }
    return parts(host.store(), host::partKey).writeRun(buffer.sorted(), schema).get(0);
  }

  /** {@code row3-w1} as 31, an error as its reason. */
  private static byte[] encode(Update update) {
    String row = update.row();
    try {
      if (Rows.isError(update)) {
        return ERRORS.encode(new Object[] {row, new byte[0], "", ""});
      }
      long number = (row.charAt(3) - '0') * 10L + row.charAt(6) - '0';
      return CODEC.encode(new Object[] {number});
    } catch (InvalidRowException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String name(Object first) {
    return first instanceof Long number
        ? "row" + number / 10 + "-w" + number % 10
        : String.valueOf(first);
  }

  static boolean is(byte[] bytes) {
    return bytes.length > 4 && Arrays.equals(MAGIC, Arrays.copyOf(bytes, 4));
  }

  /** The rows of a part. */
  static List<Update> decode(Part part, byte[] bytes) {
    MemoryStore store = new MemoryStore("part");
    store.put(Parts.key(part), Body.of(bytes));
    try {
      // Which schema it has only its batch knows; its footer names the columns.
      boolean errors = new String(bytes, StandardCharsets.ISO_8859_1).contains("origin");
      Schema schema = errors ? ErrorRows.SCHEMA : SCHEMA;
      return drain(parts(store, () -> "").read(part, schema, schema), errors ? ERRORS : CODEC);
    } catch (IOException e) {
      throw new ViolationError("I3", Parts.key(part) + " can't be read", e);
    }
  }

  /** All updates of a cursor over the shard's rows, which is closed. */
  static List<Update> drain(UpdateCursor cursor) throws IOException {
    return drain(cursor, CODEC);
  }

  private static List<Update> drain(UpdateCursor cursor, RowCodec codec) throws IOException {
    List<Update> updates = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        Object[] values = codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
        updates.add(new Update(name(values[0]), cursor.time(), cursor.diff()));
      }
    }
    return updates;
  }
}
