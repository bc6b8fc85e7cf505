package dev.tidemark.flink.message;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Rows of keys on the wire. */
public final class KeyedRowSerializer extends MessageSerializer<KeyedRow> {
  /** The only one. */
  public static final KeyedRowSerializer INSTANCE = new KeyedRowSerializer();

  private static final long serialVersionUID = 1L;

  private KeyedRowSerializer() {
    super(1);
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
  }

  @Override
  protected KeyedRow read(int written, DataInputView source) throws IOException {
    return new KeyedRow(
        source.readInt(),
        readBytes(source),
        RawRecordSerializer.readOptional(source),
        source.readLong(),
        source.readBoolean());
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
