package dev.tidemark.flink.write;

import dev.tidemark.part.RowBlock;
import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowChange;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The form in which rows are held over a barrier: sorted runs, cut into chunks, one entry of a list
 * state each. A chunk says whether it begins a run, and between which times its rows lie, so that
 * one whose rows all stay need not be opened.
 */
final class HeldChunks {
  /** The row bytes of a chunk: entries much smaller or larger cost more in RocksDB. */
  static final int CHUNK_BYTES = 64 << 10;

  private static final int VERSION = 1;
  private static final int HEADER = 2 + 2 * Long.BYTES;

  private HeldChunks() {}

  /** Where chunks go. */
  @FunctionalInterface
  interface Sink {
    void add(byte[] chunk) throws Exception;
  }

  /** Cuts a sorted run into chunks. */
  static void write(UpdateCursor run, Sink sink) throws Exception {
    Cut cut = new Cut(run);
    boolean first = true;
    while (cut.begin()) {
      byte[] block = RowBlock.encode(cut);
      ByteBuffer chunk = ByteBuffer.allocate(HEADER + block.length);
      chunk.put((byte) VERSION).put((byte) (first ? 1 : 0));
      chunk.putLong(cut.minTime).putLong(cut.maxTime).put(block);
      sink.add(chunk.array());
      first = false;
    }
  }

  /**
   * Chunks told apart by a time.
   *
   * @param leaving those with a row below it
   * @param staying those without, each now a run of its own
   */
  record Split(List<byte[]> leaving, List<byte[]> staying) {}

  /** Tells the chunks that hold rows below {@code upper} from those that don't. */
  static Split split(Iterable<byte[]> chunks, Frontier upper) throws IOException {
    List<byte[]> leaving = new ArrayList<>();
    List<byte[]> staying = new ArrayList<>();
    boolean begun = false;
    for (byte[] chunk : chunks) {
      checkVersion(chunk);
      begun &= !beginsRun(chunk);
      if (upper.hasPassed(minTime(chunk))) {
        leaving.add(begun ? chunk : beginning(chunk));
        begun = true;
      } else {
        staying.add(beginning(chunk));
      }
    }
    return new Split(leaving, staying);
  }

  /** Chunks whose rows are in another schema now, each a run of its own. */
  static List<byte[]> changed(Iterable<byte[]> chunks, RowChange change) throws Exception {
    List<byte[]> changed = new ArrayList<>();
    for (byte[] chunk : chunks) {
      RowBuffer rows = new RowBuffer();
      for (UpdateCursor run : runs(List.of(chunk))) {
        while (run.next()) {
          byte[] row = change.apply(run.row(), run.rowOffset(), run.rowLength());
          rows.add(row, 0, row.length, run.time(), run.diff());
        }
      }
      write(rows.sorted(), changed::add);
    }
    return changed;
  }

  /** The chunk as the first of a run. */
  private static byte[] beginning(byte[] chunk) {
    byte[] first = chunk.clone();
    first[1] = 1;
    return first;
  }

  private static long minTime(byte[] chunk) {
    return ByteBuffer.wrap(chunk).getLong(2);
  }

  /** The runs that chunks, in the order in which they were written, make up. */
  static List<UpdateCursor> runs(List<byte[]> chunks) throws IOException {
    for (byte[] chunk : chunks) {
      checkVersion(chunk);
    }
    List<UpdateCursor> runs = new ArrayList<>();
    int begin = 0;
    for (int i = 1; i <= chunks.size(); i++) {
      if (i == chunks.size() || beginsRun(chunks.get(i))) {
        runs.add(new Run(chunks.subList(begin, i)));
        begin = i;
      }
    }
    return runs;
  }

  private static void checkVersion(byte[] chunk) throws IOException {
    if (chunk[0] != VERSION) {
      throw new IOException(
          "held rows are of version " + chunk[0] + ", this build reads " + VERSION);
    }
  }

  private static boolean beginsRun(byte[] chunk) {
    return chunk[1] == 1;
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

  /** Chunks one after another; one is open at a time. */
  private static final class Run implements UpdateCursor {
    private final List<byte[]> chunks;
    private int opened;
    private UpdateCursor chunk;

    Run(List<byte[]> chunks) throws IOException {
      this.chunks = chunks;
      this.chunk = open();
    }

    private UpdateCursor open() throws IOException {
      byte[] next = chunks.get(opened++);
      byte[] block = new byte[next.length - HEADER];
      System.arraycopy(next, HEADER, block, 0, block.length);
      return RowBlock.decode(block);
    }

    @Override
    public boolean next() throws IOException {
      while (!chunk.next()) {
        if (opened == chunks.size()) {
          return false;
        }
        chunk.close();
        chunk = open();
      }
      return true;
    }

    @Override
    public byte[] row() {
      return chunk.row();
    }

    @Override
    public int rowOffset() {
      return chunk.rowOffset();
    }

    @Override
    public int rowLength() {
      return chunk.rowLength();
    }

    @Override
    public long time() {
      return chunk.time();
    }

    @Override
    public long diff() {
      return chunk.diff();
    }

    @Override
    public void close() throws IOException {
      chunk.close();
    }
  }
}
