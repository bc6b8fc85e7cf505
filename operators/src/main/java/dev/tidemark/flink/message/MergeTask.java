package dev.tidemark.flink.message;

import dev.tidemark.part.KeyRange;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.jspecify.annotations.Nullable;

/**
 * A chunk of a merge that the spine wants done: a plan is a list of them, in the order of rows.
 *
 * @param shard the index of the shard in the job's list
 * @param level the level of the inputs; {@link #CONSOLIDATION}
 * @param inputs the ids of the batches, oldest first
 * @param since what times are advanced to
 * @param bytes the row bytes of the inputs: smaller merges of a level go first
 * @param plan the id of the plan, the same for the same inputs, since, schema and chunks; empty in
 *     a task of an earlier build, which is left to the spine to plan anew
 * @param chunk which chunk of the plan, from 0 on
 * @param chunks how many there are
 * @param range the rows of the chunk
 * @param schema the id of the schema that rows are written in
 */
public record MergeTask(
    int shard,
    int level,
    List<String> inputs,
    Frontier since,
    long bytes,
    String plan,
    int chunk,
    int chunks,
    KeyRange range,
    int schema) {
  /** The level of a consolidation. */
  public static final int CONSOLIDATION = -1;

  /** How Flink treats them. */
  public static final TypeInformation<MergeTask> TYPE =
      new MessageType<>(MergeTask.class, Serializer.INSTANCE);

  private static final int PLAN_ID_BYTES = 10;

  /** Copies the list. */
  public MergeTask {
    inputs = List.copyOf(inputs);
    if (chunk < 0 || chunk >= chunks) {
      throw new IllegalArgumentException("chunk " + chunk + " of " + chunks + " is none");
    }
  }

  /** The chunks of a plan, in the order of rows. */
  public static List<MergeTask> plan(
      int shard,
      int level,
      List<String> inputs,
      Frontier since,
      long bytes,
      int schema,
      List<KeyRange> ranges) {
    String plan = planId(level + " " + inputs + " " + since.time() + " " + schema + " " + ranges);
    List<MergeTask> tasks = new ArrayList<>();
    for (KeyRange range : ranges) {
      tasks.add(
          new MergeTask(
              shard,
              level,
              inputs,
              since,
              bytes,
              plan,
              tasks.size(),
              ranges.size(),
              range,
              schema));
    }
    return tasks;
  }

  private static String planId(String facts) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(facts.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, PLAN_ID_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Whether another task is of a merge of the same batches. */
  public boolean isOfSameInputs(MergeTask other) {
    return shard == other.shard && level == other.level && inputs.equals(other.inputs);
  }

  /** Writes the fields in order. */
  public static final class Serializer extends MessageSerializer<MergeTask> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(2);
    }

    @Override
    public MergeTask createInstance() {
      return new MergeTask(0, 0, List.of(), Frontier.MINIMUM, 0, "", 0, 1, KeyRange.ALL, 0);
    }

    @Override
    protected void write(MergeTask task, DataOutputView target) throws IOException {
      target.writeInt(task.shard);
      target.writeInt(task.level);
      writeTexts(task.inputs, target);
      target.writeLong(task.since.time());
      target.writeLong(task.bytes);
      target.writeUTF(task.plan);
      target.writeInt(task.chunk);
      target.writeInt(task.chunks);
      writeBound(task.range.from(), target);
      writeBound(task.range.to(), target);
      target.writeInt(task.schema);
    }

    @Override
    protected MergeTask read(int written, DataInputView source) throws IOException {
      int shard = source.readInt();
      int level = source.readInt();
      List<String> inputs = readTexts(source);
      Frontier since = Frontier.of(source.readLong());
      long bytes = source.readLong();
      if (written == 1) {
        return new MergeTask(shard, level, inputs, since, bytes, "", 0, 1, KeyRange.ALL, 0);
      }
      String plan = source.readUTF();
      int chunk = source.readInt();
      int chunks = source.readInt();
      KeyRange range = new KeyRange(readBound(source), readBound(source));
      return new MergeTask(
          shard, level, inputs, since, bytes, plan, chunk, chunks, range, source.readInt());
    }

    private static void writeBound(@Nullable String bound, DataOutputView target)
        throws IOException {
      target.writeBoolean(bound != null);
      if (bound != null) {
        target.writeUTF(bound);
      }
    }

    private static @Nullable String readBound(DataInputView source) throws IOException {
      return source.readBoolean() ? source.readUTF() : null;
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
