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
 * What the job has seen of a shard, so that a log which went back, or another shard in its place,
 * is noticed.
 *
 * @param shard the shard's random id
 * @param upper its upper
 */
record SeenShard(String shard, Frontier upper) {
  static final TypeInformation<SeenShard> TYPE =
      new MessageType<>(SeenShard.class, Serializer.INSTANCE);

  /** Writes the fields in order. */
  static final class Serializer extends MessageSerializer<SeenShard> {
    private static final long serialVersionUID = 1L;
    static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public SeenShard createInstance() {
      return new SeenShard("", Frontier.MINIMUM);
    }

    @Override
    protected void write(SeenShard seen, DataOutputView target) throws IOException {
      target.writeUTF(seen.shard);
      target.writeLong(seen.upper.time());
    }

    @Override
    protected SeenShard read(int written, DataInputView source) throws IOException {
      return new SeenShard(source.readUTF(), Frontier.of(source.readLong()));
    }

    @Override
    public TypeSerializerSnapshot<SeenShard> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<SeenShard> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
