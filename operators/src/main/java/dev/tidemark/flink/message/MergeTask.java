package dev.tidemark.flink.message;

import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A merge that the spine wants done. Later versions cut it into chunks; now it is one.
 *
 * @param shard the index of the shard in the job's list
 * @param level the level of the inputs; {@link #CONSOLIDATION}
 * @param inputs the ids of the batches, oldest first
 * @param since what times are advanced to
 * @param bytes the row bytes of the inputs: smaller merges of a level go first
 */
public record MergeTask(int shard, int level, List<String> inputs, Frontier since, long bytes) {
  /** The level of a consolidation. */
  public static final int CONSOLIDATION = -1;

  /** How Flink treats them. */
  public static final TypeInformation<MergeTask> TYPE =
      new MessageType<>(MergeTask.class, Serializer.INSTANCE);

  /** Copies the list. */
  public MergeTask {
    inputs = List.copyOf(inputs);
  }

  /** Writes the fields in order. */
  public static final class Serializer extends MessageSerializer<MergeTask> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public MergeTask createInstance() {
      return new MergeTask(0, 0, List.of(), Frontier.MINIMUM, 0);
    }

    @Override
    protected void write(MergeTask task, DataOutputView target) throws IOException {
      target.writeInt(task.shard);
      target.writeInt(task.level);
      writeTexts(task.inputs, target);
      target.writeLong(task.since.time());
      target.writeLong(task.bytes);
    }

    @Override
    protected MergeTask read(int written, DataInputView source) throws IOException {
      return new MergeTask(
          source.readInt(),
          source.readInt(),
          readTexts(source),
          Frontier.of(source.readLong()),
          source.readLong());
    }

    @Override
    public TypeSerializerSnapshot<MergeTask> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MergeTask> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
