package dev.tidemark.flink.message;

import java.io.IOException;
import java.util.Objects;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Rows of keys on the wire. */
public final class KeyedRowSerializer extends TypeSerializerSingleton<KeyedRow> {
  /** The only one. */
  public static final KeyedRowSerializer INSTANCE = new KeyedRowSerializer();

  private static final long serialVersionUID = 1L;

  @Override
  public boolean isImmutableType() {
    return true;
  }

  @Override
  public KeyedRow createInstance() {
    return new KeyedRow(0, new byte[0], null, 0, false);
  }

  @Override
  public KeyedRow copy(KeyedRow from) {
    return from;
  }

  @Override
  public KeyedRow copy(KeyedRow from, KeyedRow reuse) {
    return from;
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public void serialize(KeyedRow row, DataOutputView target) throws IOException {
    target.writeInt(row.shard());
    RawRecordSerializer.writeBytes(row.key(), target);
    RawRecordSerializer.writeBytes(row.row(), target);
    target.writeLong(row.time());
    target.writeBoolean(row.counted());
  }

  @Override
  public KeyedRow deserialize(DataInputView source) throws IOException {
    return new KeyedRow(
        source.readInt(),
        Objects.requireNonNull(RawRecordSerializer.readBytes(source)),
        RawRecordSerializer.readBytes(source),
        source.readLong(),
        source.readBoolean());
  }

  @Override
  public KeyedRow deserialize(KeyedRow reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }

  @Override
  public TypeSerializerSnapshot<KeyedRow> snapshotConfiguration() {
    return new Snapshot();
  }

  /** Names the serializer in snapshots. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<KeyedRow> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
