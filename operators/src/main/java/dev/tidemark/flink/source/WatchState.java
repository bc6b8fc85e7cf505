package dev.tidemark.flink.source;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.FileSourceSplitSerializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * What a restart must know of watched folders.
 *
 * @param next the number of the next file
 * @param seen what {@link SeenFiles} remembers
 * @param pending files that were found and that no reader has yet
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record WatchState(long next, long[] seen, List<FileSourceSplit> pending) {

  /** Version 1: all numbers as they are, 16 bytes a file that was read. */
  static final class Serializer implements SimpleVersionedSerializer<WatchState> {
    static final Serializer INSTANCE = new Serializer();

    private static final FileSourceSplitSerializer SPLITS = FileSourceSplitSerializer.INSTANCE;

    @Override
    public int getVersion() {
      return 1;
    }

    @Override
    public byte[] serialize(WatchState state) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(64 + 8 * state.seen().length);
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeLong(state.next());
      out.writeInt(state.seen().length);
      for (long number : state.seen()) {
        out.writeLong(number);
      }
      out.writeInt(SPLITS.getVersion());
      out.writeInt(state.pending().size());
      for (FileSourceSplit split : state.pending()) {
        byte[] written = SPLITS.serialize(split);
        out.writeInt(written.length);
        out.write(written);
      }
      out.flush();
      return bytes.toByteArray();
    }

    @Override
    public WatchState deserialize(int version, byte[] bytes) throws IOException {
      if (version != 1) {
        throw new IOException(
            "the state of watched folders has version "
                + version
                + " and this build knows 1: it is of a newer build");
      }
      DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
      long next = in.readLong();
      int numbers = count(in.readInt(), in);
      long[] seen = new long[numbers];
      for (int i = 0; i < seen.length; i++) {
        seen[i] = in.readLong();
      }
      int splitVersion = in.readInt();
      List<FileSourceSplit> pending = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        byte[] written = new byte[count(in.readInt(), in)];
        in.readFully(written);
        pending.add(SPLITS.deserialize(splitVersion, written));
      }
      return new WatchState(next, seen, List.copyOf(pending));
    }

    /** A count that can't be more than the bytes that are left. */
    private static int count(int count, DataInputStream in) throws IOException {
      if (count < 0 || count > in.available()) {
        throw new IOException("the state of watched folders is damaged: a count of " + count);
      }
      return count;
    }
  }
}
