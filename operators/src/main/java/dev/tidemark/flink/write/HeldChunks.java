package dev.tidemark.flink.write;

import dev.tidemark.part.RowBlock;
import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowChange;
import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The form in which rows are held over a barrier, or on disk: sorted runs, cut into chunks, an
 * entry of a map state each. A chunk says between which times its rows lie, so that one whose rows
 * all stay need not be opened; and whether it begins a run, which its {@link ChunkKey} says too.
 */
final class HeldChunks {
  /** The row bytes of a chunk: entries much smaller or larger cost more in RocksDB. */
  static final int CHUNK_BYTES = 64 << 10;

  private static final int VERSION = 1;
  private static final int HEADER = 2 + 2 * Long.BYTES;

  private HeldChunks() {}

  /** Cuts a sorted run into chunks. */
  static final class Cutter {
    private final Cut cut;
    private boolean first = true;

    Cutter(UpdateCursor run) {
      this.cut = new Cut(run);
    }

    /** The next chunk; null when the run is over. */
    byte @Nullable [] next() throws IOException {
      if (!cut.begin()) {
        return null;
      }
      byte[] block = RowBlock.encode(cut);
      ByteBuffer chunk = ByteBuffer.allocate(HEADER + block.length);
      chunk.put((byte) VERSION).put((byte) (first ? 1 : 0));
      chunk.putLong(cut.minTime).putLong(cut.maxTime).put(block);
      first = false;
      return chunk.array();
    }
  }

  /** A chunk's rows, in order, in another schema. */
  static UpdateCursor changed(byte[] chunk, RowChange change) throws Exception {
    RowBuffer rows = new RowBuffer();
    UpdateCursor run = new Run(1, only -> chunk);
    while (run.next()) {
      byte[] row = change.apply(run.row(), run.rowOffset(), run.rowLength());
      rows.add(row, 0, row.length, run.time(), run.diff());
    }
    return rows.sorted();
  }

  /** The least time of a chunk's rows. */
  static long minTime(byte[] chunk) throws IOException {
    checkVersion(chunk);
    return ByteBuffer.wrap(chunk).getLong(2);
  }

  /** Whether a chunk is the first of its run. */
  static boolean beginsRun(byte[] chunk) throws IOException {
    checkVersion(chunk);
    return chunk[1] == 1;
  }

  private static void checkVersion(byte[] chunk) throws IOException {
    if (chunk.length < HEADER || chunk[0] != VERSION) {
      throw new IOException(
          "held rows are of version "
              + (chunk.length == 0 ? 0 : chunk[0])
              + ", this build reads "
              + VERSION);
    }
  }

  /** One chunk's worth of a run at a time. */
  private static final class Cut extends ForwardingCursor {
    private boolean ahead;
    private int bytes;
    long minTime;
    long maxTime;

    Cut(UpdateCursor run) {
      super(run);
    }

    /** Begins the next chunk; false when the run is over. */
    boolean begin() throws IOException {
      bytes = 0;
      minTime = Long.MAX_VALUE;
      maxTime = Long.MIN_VALUE;
      ahead = updates.next();
      return ahead;
    }

    @Override
    public boolean next() throws IOException {
      if (bytes >= CHUNK_BYTES || !(ahead || updates.next())) {
        return false;
      }
      ahead = false;
      bytes += rowLength() + 2 * Long.BYTES;
      minTime = Math.min(minTime, time());
      maxTime = Math.max(maxTime, time());
      return true;
    }

    /** The run goes on in the next chunk. */
    @Override
    public void close() {}
  }

  /** Where the chunks of a run come from. */
  @FunctionalInterface
  interface Chunks {
    byte[] get(int number) throws IOException;
  }

  /** The chunks of a run one after another; one is open at a time, the first when it is read. */
  static final class Run implements UpdateCursor {
    private final int size;
    private final Chunks chunks;
    private int opened;
    private @Nullable UpdateCursor chunk;

    Run(int size, Chunks chunks) {
      this.size = size;
      this.chunks = chunks;
    }

    private UpdateCursor open() throws IOException {
      byte[] next = chunks.get(opened++);
      checkVersion(next);
      byte[] block = new byte[next.length - HEADER];
      System.arraycopy(next, HEADER, block, 0, block.length);
      return RowBlock.decode(block);
    }

    @Override
    public boolean next() throws IOException {
      while (chunk == null || !chunk.next()) {
        if (opened == size) {
          return false;
        }
        chunk = open();
      }
      return true;
    }

    private UpdateCursor current() {
      UpdateCursor current = chunk;
      if (current == null) {
        throw new IllegalStateException("no update yet");
      }
      return current;
    }

    @Override
    public byte[] row() {
      return current().row();
    }

    @Override
    public int rowOffset() {
      return current().rowOffset();
    }

    @Override
    public int rowLength() {
      return current().rowLength();
    }

    @Override
    public long time() {
      return current().time();
    }

    @Override
    public long diff() {
      return current().diff();
    }
  }
}
