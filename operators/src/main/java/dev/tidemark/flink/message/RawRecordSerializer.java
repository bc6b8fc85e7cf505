package dev.tidemark.flink.message;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/** Raw records on the wire. They are rarely there: the decoder is chained behind the source. */
public final class RawRecordSerializer extends TypeSerializerSingleton<RawRecord> {
  /** The only one. */
  public static final RawRecordSerializer INSTANCE = new RawRecordSerializer();

  private static final long serialVersionUID = 1L;

  @Override
  public boolean isImmutableType() {
    return true;
  }

  @Override
  public RawRecord createInstance() {
    return new RawRecord();
  }

  @Override
  public RawRecord copy(RawRecord from) {
    return from;
  }

  @Override
  public RawRecord copy(RawRecord from, RawRecord reuse) {
    return from;
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public void serialize(RawRecord record, DataOutputView target) throws IOException {
    writeBytes(record.key, target);
    writeBytes(record.value, target);
    writeBytes(record.header, target);
    target.writeUTF(record.place);
    target.writeUTF(record.partition);
    writeText(record.topic, target);
    target.writeLong(record.number);
    target.writeLong(record.byteOffset);
    target.writeLong(record.timestampMillis);
    writeText(record.flaw, target);
  }

  @Override
  public RawRecord deserialize(DataInputView source) throws IOException {
    RawRecord record = new RawRecord();
    record.key = readBytes(source);
    record.value = readBytes(source);
    record.header = readBytes(source);
    record.place = source.readUTF();
    record.partition = source.readUTF();
    record.topic = readText(source);
    record.number = source.readLong();
    record.byteOffset = source.readLong();
    record.timestampMillis = source.readLong();
    record.flaw = readText(source);
    return record;
  }

  @Override
  public RawRecord deserialize(RawRecord reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }

  @Override
  public TypeSerializerSnapshot<RawRecord> snapshotConfiguration() {
    return new Snapshot();
  }

  static void writeBytes(byte @Nullable [] bytes, DataOutputView target) throws IOException {
    if (bytes == null) {
      target.writeInt(-1);
    } else {
      target.writeInt(bytes.length);
      target.write(bytes);
    }
  }

  static byte @Nullable [] readBytes(DataInputView source) throws IOException {
    int length = source.readInt();
    if (length < 0) {
      return null;
    }
    byte[] bytes = new byte[length];
    source.readFully(bytes);
    return bytes;
  }

  private static void writeText(@Nullable String text, DataOutputView target) throws IOException {
    target.writeBoolean(text != null);
    if (text != null) {
      target.writeUTF(text);
    }
  }

  private static @Nullable String readText(DataInputView source) throws IOException {
    return source.readBoolean() ? source.readUTF() : null;
  }

  /** Names the serializer in snapshots. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<RawRecord> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
