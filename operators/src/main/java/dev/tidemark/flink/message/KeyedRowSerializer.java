package dev.tidemark.flink.message;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/** Rows of keys on the wire. */
public final class KeyedRowSerializer extends MessageSerializer<KeyedRow> {
  /** The only one. */
  public static final KeyedRowSerializer INSTANCE = new KeyedRowSerializer();

  private static final long serialVersionUID = 1L;

  /** More than any schema has: a damaged count must not ask for memory. */
  private static final int MOST_COLUMNS = 1 << 16;

  private KeyedRowSerializer() {
    super(2);
  }

  @Override
  public KeyedRow createInstance() {
    return new KeyedRow(0, new byte[0], null, 0, false);
  }

  @Override
  protected void write(KeyedRow row, DataOutputView target) throws IOException {
    target.writeInt(row.shard());
    writeBytes(row.key(), target);
    RawRecordSerializer.writeOptional(row.row(), target);
    target.writeLong(row.time());
    target.writeBoolean(row.counted());
    target.writeBoolean(row.truncate());
    target.writeInt(row.form());
    KeyedRow.Patch patch = row.patch();
    target.writeInt(patch == null ? 0 : patch.columns().length);
    if (patch != null) {
      for (int column : patch.columns()) {
        target.writeInt(column);
      }
      writeBytes(patch.error(), target);
    }
  }

  @Override
  protected KeyedRow read(int written, DataInputView source) throws IOException {
    int shard = source.readInt();
    byte[] key = readBytes(source);
    byte[] row = RawRecordSerializer.readOptional(source);
    long time = source.readLong();
    boolean counted = source.readBoolean();
    if (written == 1) {
      return new KeyedRow(shard, key, row, time, counted);
    }
    boolean truncate = source.readBoolean();
    int form = source.readInt();
    return new KeyedRow(shard, key, row, time, counted, truncate, readPatch(source), form);
  }

  private static KeyedRow.@Nullable Patch readPatch(DataInputView source) throws IOException {
    int count = source.readInt();
    if (count == 0) {
      return null;
    }
    if (count < 0 || count > MOST_COLUMNS) {
      throw new IOException("a row lacks " + count + " values: its bytes are damaged");
    }
    int[] columns = new int[count];
    for (int i = 0; i < count; i++) {
      columns[i] = source.readInt();
    }
    return new KeyedRow.Patch(columns, readBytes(source));
  }

  @Override
  public TypeSerializerSnapshot<KeyedRow> snapshotConfiguration() {
    return new Snapshot();
  }

  /** Its snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<KeyedRow> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
