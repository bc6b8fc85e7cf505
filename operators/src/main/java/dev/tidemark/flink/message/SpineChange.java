package dev.tidemark.flink.message;

import dev.tidemark.shard.Command;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A change that install is to put into a shard's log: one of the commands of the side path.
 *
 * @param shard the index of the shard in the job's list
 * @param command the command
 */
public record SpineChange(int shard, Command command) {
  /** How Flink treats them. */
  public static final TypeInformation<SpineChange> TYPE =
      new MessageType<>(SpineChange.class, Serializer.INSTANCE);

  /** Writes the command's name, then its fields. */
  public static final class Serializer extends MessageSerializer<SpineChange> {
    private static final long serialVersionUID = 1L;

    /** The only one: it has no state. */
    public static final Serializer INSTANCE = new Serializer();

    private Serializer() {
      super(1);
    }

    @Override
    public SpineChange createInstance() {
      return new SpineChange(0, new Command.DowngradeSince(Frontier.MINIMUM));
    }

    @Override
    protected void write(SpineChange change, DataOutputView target) throws IOException {
      Command command = change.command;
      target.writeInt(change.shard);
      target.writeUTF(command.name());
      if (command instanceof Command.InstallMerge install) {
        target.writeInt(install.level());
        writeTexts(install.inputs(), target);
        writeBatch(install.output(), target);
      } else if (command instanceof Command.PromoteLevel promote) {
        target.writeUTF(promote.batch());
        target.writeInt(promote.fromLevel());
      } else if (command instanceof Command.BeginConsolidation begin) {
        target.writeLong(begin.upper().time());
      } else if (command instanceof Command.DowngradeSince since) {
        target.writeLong(since.since().time());
      } else {
        throw new IOException(command.name() + " isn't a command of the side path");
      }
    }

    @Override
    protected SpineChange read(int written, DataInputView source) throws IOException {
      int shard = source.readInt();
      return new SpineChange(shard, command(source.readUTF(), source));
    }

    private static Command command(String name, DataInputView source) throws IOException {
      return switch (name) {
        case "install" -> {
          int level = source.readInt();
          List<String> inputs = readTexts(source);
          Batch output = readBatch(source);
          yield new Command.InstallMerge(level, inputs, output);
        }
        case "promote" -> new Command.PromoteLevel(source.readUTF(), source.readInt());
        case "consolidate" -> new Command.BeginConsolidation(Frontier.of(source.readLong()));
        case "since" -> new Command.DowngradeSince(Frontier.of(source.readLong()));
        default -> throw new IOException(name + " isn't a command of the side path");
      };
    }

    @Override
    public TypeSerializerSnapshot<SpineChange> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  /** The serializer's snapshot. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<SpineChange> {
    /** For Flink. */
    public Snapshot() {
      super(() -> Serializer.INSTANCE);
    }
  }
}
