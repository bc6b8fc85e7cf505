package dev.tidemark.flink.message;

import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Writes a {@link BatchDescription} as its two times. */
public final class DescriptionSerializer extends MessageSerializer<BatchDescription> {
  private static final long serialVersionUID = 1L;

  /** The only one: it has no state. */
  public static final DescriptionSerializer INSTANCE = new DescriptionSerializer();

  /** How Flink treats descriptions. */
  public static final TypeInformation<BatchDescription> TYPE =
      new MessageType<>(BatchDescription.class, INSTANCE);

  private DescriptionSerializer() {
    super(1);
  }

  @Override
  public BatchDescription createInstance() {
    return new BatchDescription(Frontier.MINIMUM, Frontier.END);
  }

  @Override
  protected void write(BatchDescription description, DataOutputView target) throws IOException {
    target.writeLong(description.lower().time());
    target.writeLong(description.upper().time());
  }

  @Override
  protected BatchDescription read(int written, DataInputView source) throws IOException {
    return new BatchDescription(Frontier.of(source.readLong()), Frontier.of(source.readLong()));
  }

  @Override
  public TypeSerializerSnapshot<BatchDescription> snapshotConfiguration() {
    return new Snapshot();
  }

  /** Its snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<BatchDescription> {
    /** For Flink. */
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
