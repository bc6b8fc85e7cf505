package dev.tidemark.flink;

import dev.tidemark.flink.message.MessageSerializer;
import dev.tidemark.flink.message.MessageType;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A shard has become durable up to a frontier.
 *
 * @param shard the index of the shard in the job's list
 * @param name the shard's name
 * @param seqno the version that the append became
 * @param upper the shard's upper from that version on
 * @param rows the updates that the append brought
 */
@TypeInfo(ShardCommit.TypeFactory.class)
public record ShardCommit(int shard, String name, SeqNo seqno, Frontier upper, long rows) {
  /** How Flink treats commits. */
  public static final TypeInformation<ShardCommit> TYPE =
      new MessageType<>(ShardCommit.class, Serializer.INSTANCE);

  /** Writes the fields in order. */
  public static final class Serializer extends MessageSerializer<ShardCommit> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public ShardCommit createInstance() {
      return new ShardCommit(0, "", SeqNo.ZERO, Frontier.MINIMUM, 0);
    }

    @Override
    protected void write(ShardCommit commit, DataOutputView target) throws IOException {
      target.writeInt(commit.shard);
      target.writeUTF(commit.name);
      target.writeLong(commit.seqno.value());
      target.writeLong(commit.upper.time());
      target.writeLong(commit.rows);
    }

    @Override
    protected ShardCommit read(int written, DataInputView source) throws IOException {
      return new ShardCommit(
          source.readInt(),
          source.readUTF(),
          new SeqNo(source.readLong()),
          Frontier.of(source.readLong()),
          source.readLong());
    }

    @Override
    public TypeSerializerSnapshot<ShardCommit> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<ShardCommit> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }

  /** Tells Flink's type extraction of {@link #TYPE}. */
  public static final class TypeFactory extends TypeInfoFactory<ShardCommit> {
    @Override
    public TypeInformation<ShardCommit> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return TYPE;
    }
  }
}
