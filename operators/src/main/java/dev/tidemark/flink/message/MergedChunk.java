package dev.tidemark.flink.message;

import dev.tidemark.spine.Batch;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A chunk of a merge that is done: its parts are uploaded, and named by nobody yet.
 *
 * @param task what was asked for
 * @param batch the merged rows of the chunk
 */
public record MergedChunk(MergeTask task, Batch batch) {
  /** How Flink treats them. */
  public static final TypeInformation<MergedChunk> TYPE =
      new MessageType<>(MergedChunk.class, Serializer.INSTANCE);

  /** Writes the fields in order. */
  public static final class Serializer extends MessageSerializer<MergedChunk> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public MergedChunk createInstance() {
      return new MergedChunk(
          MergeTask.Serializer.INSTANCE.createInstance(),
          new Batch(
              "",
              new BatchDescription(Frontier.MINIMUM, Frontier.END),
              Frontier.MINIMUM,
              0,
              List.of(),
              List.of(),
              0,
              0,
              0,
              OptionalLong.of(0),
              Long.MIN_VALUE,
              false,
              0,
              Map.of()));
    }

    @Override
    protected void write(MergedChunk chunk, DataOutputView target) throws IOException {
      MergeTask.Serializer.INSTANCE.serialize(chunk.task, target);
      writeBatch(chunk.batch, target);
    }

    @Override
    protected MergedChunk read(int written, DataInputView source) throws IOException {
      MergeTask task = MergeTask.Serializer.INSTANCE.deserialize(source);
      return new MergedChunk(task, readBatch(source));
    }

    @Override
    public TypeSerializerSnapshot<MergedChunk> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<MergedChunk> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
