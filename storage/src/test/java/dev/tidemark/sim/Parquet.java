package dev.tidemark.sim;

import dev.tidemark.part.PartStore;
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

  private Parquet() {}

  static PartStore parts(ObjectStore store, PartStore.KeySource keys) {
    return new PartStore(store, SHARD, TARGET_BYTES, keys);
  }

  /** Uploads some updates as one part. */
  static Part write(Host host, List<Update> updates) throws IOException {
    RowBuffer buffer = new RowBuffer();
    for (Update update : updates) {
      byte[] row = encode(update.row());
      buffer.add(row, 0, row.length, update.time(), update.diff());
    }
    return parts(host.store(), host::partKey).writeRun(buffer.sorted(), SCHEMA).get(0);
  }

  /** {@code row3-w1} as 31. */
  private static byte[] encode(String row) {
    long number = (row.charAt(3) - '0') * 10L + row.charAt(6) - '0';
    try {
      return CODEC.encode(new Object[] {number});
    } catch (InvalidRowException e) {
      throw new IllegalStateException(e);
    }
  }

  static boolean is(byte[] bytes) {
    return bytes.length > 4 && Arrays.equals(MAGIC, Arrays.copyOf(bytes, 4));
  }

  /** The rows of a part. */
  static List<Update> decode(Part part, byte[] bytes) {
    MemoryStore store = new MemoryStore("part");
    store.put(Parts.key(part), Body.of(bytes));
    try {
      return drain(parts(store, () -> "").read(part, SCHEMA, SCHEMA));
    } catch (IOException e) {
      throw new ViolationError("I3", Parts.key(part) + " can't be read", e);
    }
  }

  /** All updates of a cursor, which is closed. */
  static List<Update> drain(UpdateCursor cursor) throws IOException {
    List<Update> updates = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        Object[] values = CODEC.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
        long number = (Long) values[0];
        String row = "row" + number / 10 + "-w" + number % 10;
        updates.add(new Update(row, cursor.time(), cursor.diff()));
      }
    }
    return updates;
  }
}
