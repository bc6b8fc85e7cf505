package dev.tidemark.flink.message;

import dev.tidemark.log.LogCodec;
import dev.tidemark.shard.Fact;
import dev.tidemark.spine.Batch;
import java.io.EOFException;
import java.io.IOException;
import java.io.UTFDataFormatException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The base of the serializers of messages: immutable values, written as one version byte and then
 * whatever {@link #write} puts down. Messages live in checkpoints too, so a form that was ever
 * written stays readable: {@link #read} is told the version that it meets.
 */
public abstract class MessageSerializer<T> extends TypeSerializer<T> {
  private static final long serialVersionUID = 1L;

  private final int version;

  /** A serializer that writes {@code version} and reads it and all before it. */
  protected MessageSerializer(int version) {
    this.version = version;
  }

  /** Writes the fields. */
  protected abstract void write(T message, DataOutputView target) throws IOException;

  /** Reads the fields as {@code written} wrote them. */
  protected abstract T read(int written, DataInputView source) throws IOException;

  @Override
  public final void serialize(T message, DataOutputView target) throws IOException {
    target.writeByte(version);
    write(message, target);
  }

  @Override
  public final T deserialize(DataInputView source) throws IOException {
    try {
      int written = source.readUnsignedByte();
      if (written < 1 || written > version) {
        throw new IOException(
            getClass().getSimpleName()
                + " met version "
                + written
                + " and knows up to "
                + version
                + ": the state is of a newer build");
      }
      return read(written, source);
    } catch (EOFException | UTFDataFormatException | IllegalArgumentException e) {
      throw new IOException(
          getClass().getName() + " met a message that it can't read: its bytes are damaged: " + e,
          e);
    }
  }

  @Override
  public final T deserialize(T reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public final void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }

  @Override
  public final boolean isImmutableType() {
    return true;
  }

  @Override
  public final TypeSerializer<T> duplicate() {
    return this;
  }

  @Override
  public final T copy(T from) {
    return from;
  }

  @Override
  public final T copy(T from, T reuse) {
    return from;
  }

  @Override
  public final int getLength() {
    return -1;
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof MessageSerializer<?> that
        && getClass().getName().equals(that.getClass().getName());
  }

  @Override
  public final int hashCode() {
    return getClass().getName().hashCode();
  }

  /** Writes an array with its length. */
  protected static void writeBytes(byte[] bytes, DataOutputView target) throws IOException {
    target.writeInt(bytes.length);
    target.write(bytes);
  }

  /** What a length alone may make a reader allocate: beyond it, the bytes must be there. */
  private static final int TRUSTED_BYTES = 1 << 20;

  /**
   * Reads an array with its length.
   *
   * @throws IOException when the length is negative, or more than there is
   */
  static byte[] readBytes(DataInputView source) throws IOException {
    int length = readCount(source);
    byte[] bytes = new byte[Math.min(length, TRUSTED_BYTES)];
    int at = 0;
    while (true) {
      source.readFully(bytes, at, bytes.length - at);
      at = bytes.length;
      if (at == length) {
        return bytes;
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * at));
    }
  }

  /**
   * Reads the length of what follows.
   *
   * @throws IOException when it is negative
   */
  private static int readCount(DataInputView source) throws IOException {
    int count = source.readInt();
    if (count < 0) {
      throw new IOException("a message has a length of " + count + ": its bytes are damaged");
    }
    return count;
  }

  /** Writes a batch in the form of the log. */
  protected static void writeBatch(Batch batch, DataOutputView target) throws IOException {
    writeBytes(LogCodec.encodeFact(new Fact.BatchFact(batch)), target);
  }

  /** Reads a batch in the form of the log. */
  protected static Batch readBatch(DataInputView source) throws IOException {
    Fact fact = LogCodec.decodeFact(readBytes(source), "a message between operators");
    if (fact instanceof Fact.BatchFact batch) {
      return batch.batch();
    }
    throw new IOException("a message holds a fact " + fact.name() + " in the place of a batch");
  }

  /** Writes texts. */
  protected static void writeTexts(List<String> texts, DataOutputView target) throws IOException {
    target.writeInt(texts.size());
    for (String text : texts) {
      target.writeUTF(text);
    }
  }

  /** Reads texts. */
  protected static List<String> readTexts(DataInputView source) throws IOException {
    List<String> texts = new ArrayList<>();
    for (int left = readCount(source); left > 0; left--) {
      texts.add(source.readUTF());
    }
    return texts;
  }
}
