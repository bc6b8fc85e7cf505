package dev.tidemark.flink.write;

import dev.tidemark.flink.message.MessageSerializer;
import dev.tidemark.flink.message.MessageType;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Where a chunk of a sorted run lies among the others of its lane, in keyed state or on disk.
 *
 * @param run drawn at random, so that no two runs share one, whichever attempt made them
 * @param number the chunk's number in the run
 */
record ChunkKey(long run, int number) {
  static final TypeInformation<ChunkKey> TYPE =
      new MessageType<>(ChunkKey.class, Serializer.INSTANCE);

  /** Writes the fields in order. */
  static final class Serializer extends MessageSerializer<ChunkKey> {
    private static final long serialVersionUID = 1L;
    static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public ChunkKey createInstance() {
      return new ChunkKey(0, 0);
    }

    @Override
    protected void write(ChunkKey key, DataOutputView target) throws IOException {
      target.writeLong(key.run);
      target.writeInt(key.number);
    }

    @Override
    protected ChunkKey read(int written, DataInputView source) throws IOException {
      return new ChunkKey(source.readLong(), source.readInt());
    }

    @Override
    public TypeSerializerSnapshot<ChunkKey> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<ChunkKey> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
