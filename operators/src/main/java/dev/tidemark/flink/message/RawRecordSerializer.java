package dev.tidemark.flink.message;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/** Raw records on the wire. They are rarely there: the decoder is chained behind the source. */
public final class RawRecordSerializer extends MessageSerializer<RawRecord> {
  /** The only one. */
  public static final RawRecordSerializer INSTANCE = new RawRecordSerializer();

  private static final long serialVersionUID = 1L;

  private RawRecordSerializer() {
    super(2);
  }

  @Override
  public RawRecord createInstance() {
    return new RawRecord();
  }

  @Override
  protected void write(RawRecord record, DataOutputView target) throws IOException {
    writeOptional(record.key, target);
    writeOptional(record.value, target);
    writeOptional(record.header, target);
    target.writeUTF(record.place);
    target.writeUTF(record.partition);
    writeText(record.topic, target);
    target.writeLong(record.number);
    target.writeLong(record.byteOffset);
    target.writeLong(record.timestampMillis);
    writeText(record.flaw, target);
    target.writeByte(code(record.mark));
  }

  @Override
  protected RawRecord read(int written, DataInputView source) throws IOException {
    RawRecord record = new RawRecord();
    record.key = readOptional(source);
    record.value = readOptional(source);
    record.header = readOptional(source);
    record.place = source.readUTF();
    record.partition = source.readUTF();
    record.topic = readText(source);
    record.number = source.readLong();
    record.byteOffset = source.readLong();
    record.timestampMillis = source.readLong();
    record.flaw = readText(source);
    record.mark = written < 2 ? RawRecord.Mark.NONE : mark(source.readUnsignedByte());
    return record;
  }

  private static int code(RawRecord.Mark mark) {
    return switch (mark) {
      case NONE -> 0;
      case ASSIGNED -> 1;
      case OVER -> 2;
    };
  }

  private static RawRecord.Mark mark(int code) throws IOException {
    return switch (code) {
      case 0 -> RawRecord.Mark.NONE;
      case 1 -> RawRecord.Mark.ASSIGNED;
      case 2 -> RawRecord.Mark.OVER;
      default ->
          throw new IOException("a raw record has a mark " + code + ": its bytes are damaged");
    };
  }

  static void writeOptional(byte @Nullable [] bytes, DataOutputView target) throws IOException {
    target.writeBoolean(bytes != null);
    if (bytes != null) {
      writeBytes(bytes, target);
    }
  }

  static byte @Nullable [] readOptional(DataInputView source) throws IOException {
    return source.readBoolean() ? readBytes(source) : null;
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

  @Override
  public TypeSerializerSnapshot<RawRecord> snapshotConfiguration() {
    return new Snapshot();
  }

  /** Its snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<RawRecord> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
