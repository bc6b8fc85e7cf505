package dev.tidemark.flink.message;

import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes an {@link Update} as its fields: shard, key of the slot, flags, time, diff, length and
 * bytes of the row. Row arrays are never written to after they were made, so a copy shares them.
 * The flags leave seven bits for what later versions add.
 */
public final class UpdateSerializer extends TypeSerializer<Update> {
  private static final long serialVersionUID = 1L;

  /** The only one: it has no state. */
  public static final UpdateSerializer INSTANCE = new UpdateSerializer();

  private static final int ERROR = 1;
  private static final int COMPANION = 2;

  private UpdateSerializer() {}

  @Override
  public void serialize(Update update, DataOutputView target) throws IOException {
    target.writeInt(update.shard);
    target.writeInt(update.slotKey);
    target.writeByte((update.error ? ERROR : 0) | (update.companion ? COMPANION : 0));
    target.writeLong(update.time);
    target.writeLong(update.diff);
    target.writeInt(update.row.length);
    target.write(update.row);
  }

  @Override
  public Update deserialize(DataInputView source) throws IOException {
    return deserialize(new Update(), source);
  }

  @Override
  public Update deserialize(Update reuse, DataInputView source) throws IOException {
    try {
      reuse.shard = source.readInt();
      reuse.slotKey = source.readInt();
      byte flags = source.readByte();
      reuse.error = (flags & ERROR) != 0;
      reuse.companion = (flags & COMPANION) != 0;
      reuse.time = source.readLong();
      reuse.diff = source.readLong();
      reuse.row = MessageSerializer.readBytes(source);
      return reuse;
    } catch (EOFException e) {
      throw new IOException("an update ends too early: its bytes are damaged", e);
    }
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    target.write(source, Integer.BYTES * 2 + 1 + Long.BYTES * 2);
    int length = source.readInt();
    target.writeInt(length);
    target.write(source, length);
  }

  @Override
  public Update copy(Update from) {
    return copy(from, new Update());
  }

  @Override
  public Update copy(Update from, Update reuse) {
    reuse.shard = from.shard;
    reuse.slotKey = from.slotKey;
    reuse.error = from.error;
    reuse.companion = from.companion;
    reuse.row = from.row;
    reuse.time = from.time;
    reuse.diff = from.diff;
    return reuse;
  }

  @Override
  public Update createInstance() {
    return new Update();
  }

  @Override
  public boolean isImmutableType() {
    return false;
  }

  @Override
  public TypeSerializer<Update> duplicate() {
    return this;
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UpdateSerializer;
  }

  @Override
  public int hashCode() {
    return UpdateSerializer.class.hashCode();
  }

  @Override
  public TypeSerializerSnapshot<Update> snapshotConfiguration() {
    return new Snapshot();
  }

  /** Its snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<Update> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
