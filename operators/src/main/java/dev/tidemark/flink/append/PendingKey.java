package dev.tidemark.flink.append;

import dev.tidemark.flink.message.MessageSerializer;
import dev.tidemark.flink.message.MessageType;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Where a batch that isn't committed lies in keyed state.
 *
 * @param tag the first checkpoint that holds it
 * @param upper the upper of its description
 * @param slot the slot it came from
 */
record PendingKey(long tag, Frontier upper, int slot) {
  static final TypeInformation<PendingKey> TYPE =
      new MessageType<>(PendingKey.class, Serializer.INSTANCE);

  /** Writes the fields in order. */
  static final class Serializer extends MessageSerializer<PendingKey> {
    private static final long serialVersionUID = 1L;
    static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public PendingKey createInstance() {
      return new PendingKey(0, Frontier.MINIMUM, 0);
    }

    @Override
    protected void write(PendingKey key, DataOutputView target) throws IOException {
      target.writeLong(key.tag);
      target.writeLong(key.upper.time());
      target.writeInt(key.slot);
    }

    @Override
    protected PendingKey read(int written, DataInputView source) throws IOException {
      return new PendingKey(source.readLong(), Frontier.of(source.readLong()), source.readInt());
    }

    @Override
    public TypeSerializerSnapshot<PendingKey> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<PendingKey> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
