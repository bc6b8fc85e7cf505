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
 * What one slot of one shard has for one description: parts that are uploaded, or the rows
 * themselves where they are few.
 *
 * <p>{@link #batch} holds the bounds, the uploaded parts, and the counts of all rows, those in the
 * blocks too; its id means nothing yet.
 */
public final class WrittenBatch {
  /** No rows in the message. */
  public static final byte[] NO_BLOCK = new byte[0];

  /** How Flink treats them. */
  public static final TypeInformation<WrittenBatch> TYPE =
      new MessageType<>(WrittenBatch.class, Serializer.INSTANCE);

  private final int shard;
  private final int slot;
  private final Batch batch;
  private final byte[] rowBlock;
  private final byte[] errorBlock;

  /**
   * What a slot has.
   *
   * @param shard the index of the shard in the job's list
   * @param slot the slot's key
   * @param batch bounds, uploaded parts and counts; its {@code maxTime} is over rows and error rows
   * @param rowBlock the rows as a {@link dev.tidemark.part.RowBlock}; empty: none in the message
   * @param errorBlock the error rows, likewise
   */
  public WrittenBatch(int shard, int slot, Batch batch, byte[] rowBlock, byte[] errorBlock) {
    this.shard = shard;
    this.slot = slot;
    this.batch = batch;
    this.rowBlock = rowBlock;
    this.errorBlock = errorBlock;
  }

  /** The index of the shard in the job's list. */
  public int shard() {
    return shard;
  }

  /** The slot's key. */
  public int slot() {
    return slot;
  }

  /** The description's bounds. */
  public BatchDescription bounds() {
    return batch.bounds();
  }

  /** Bounds, uploaded parts, counts. */
  public Batch batch() {
    return batch;
  }

  /** The rows that travel in the message, empty when there are none. */
  public byte[] rowBlock() {
    return rowBlock;
  }

  /** The error rows that travel in the message, empty when there are none. */
  public byte[] errorBlock() {
    return errorBlock;
  }

  @Override
  public String toString() {
    return "shard " + shard + " slot " + slot + " " + bounds() + " rows " + batch.rows();
  }

  /** Writes the batch as the log does, the blocks as they are. */
  public static final class Serializer extends MessageSerializer<WrittenBatch> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public WrittenBatch createInstance() {
      Batch empty =
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
              Map.of());
      return new WrittenBatch(0, 0, empty, NO_BLOCK, NO_BLOCK);
    }

    @Override
    protected void write(WrittenBatch message, DataOutputView target) throws IOException {
      target.writeInt(message.shard);
      target.writeInt(message.slot);
      writeBatch(message.batch, target);
      writeBytes(message.rowBlock, target);
      writeBytes(message.errorBlock, target);
    }

    @Override
    protected WrittenBatch read(int written, DataInputView source) throws IOException {
      return new WrittenBatch(
          source.readInt(),
          source.readInt(),
          readBatch(source),
          readBytes(source),
          readBytes(source));
    }

    @Override
    public TypeSerializerSnapshot<WrittenBatch> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<WrittenBatch> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
