package dev.tidemark.part;

import com.github.luben.zstd.ZstdCompressCtx;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Writes and reads the parts of one shard. Thread-safe; uploads nothing that a caller hasn't asked
 * for, deletes nothing.
 */
public final class PartStore {
  private static final int ZSTD_LEVEL = 1;

  /** With less, pages would be fetched one by one. */
  private static final long LEAST_FETCH_BYTES = 128 << 10;

  private final ObjectStore store;
  private final String shard;
  private final long targetBytes;
  private final KeySource keys;
  private final long fetchBytes;

  /**
   * Names a new part's key: {@code part/<day>/<ulid>.parquet}. The clock's only use is the name.
   */
  @FunctionalInterface
  public interface KeySource {
    /** A key that nobody else has. */
    String next();
  }

  /**
   * The parts of a shard.
   *
   * @param store the store below the shard's prefix
   * @param shard the shard's random id, written into each part's footer
   * @param targetBytes the size at which a part is full (part.target-bytes)
   */
  public PartStore(ObjectStore store, String shard, long targetBytes, KeySource keys) {
    this(store, shard, targetBytes, keys, Long.MAX_VALUE);
  }

  private PartStore(
      ObjectStore store, String shard, long targetBytes, KeySource keys, long fetchBytes) {
    this.store = store;
    this.shard = shard;
    this.targetBytes = targetBytes;
    this.keys = keys;
    this.fetchBytes = fetchBytes;
  }

  /** The same parts for work that can wait while the store is hard pressed. */
  public PartStore yielding() {
    return new PartStore(store.yielding(), shard, targetBytes, keys, fetchBytes);
  }

  /**
   * The same parts for a reader of many: an open part holds about this many bytes of its object at
   * a time, at the price of more requests; and a page a column, compressed and not. Without it, a
   * row group or an object of 8 MiB.
   */
  public PartStore fetching(long bytes) {
    return new PartStore(store, shard, targetBytes, keys, Math.max(LEAST_FETCH_BYTES, bytes));
  }

  /**
   * Writes what is left of a cursor as one run of one or more parts, uploaded when this returns. A
   * part ends between two different rows, as soon as it has its target size. Memory: one part. When
   * this throws, parts may have been uploaded that nothing will ever name.
   *
   * @return the handles in order; none when the cursor had no update
   * @throws IOException also when the updates are not in order or no rows of the schema
   */
  public List<Part> writeRun(UpdateCursor updates, Schema schema) throws IOException {
    List<Part> parts = new ArrayList<>();
    try (ZstdCompressCtx zstd = new ZstdCompressCtx()) {
      zstd.setLevel(ZSTD_LEVEL);
      PartWriter writer = null;
      while (updates.next()) {
        if (writer != null && writer.bytes() >= targetBytes && !writer.isLast(updates)) {
          parts.add(upload(writer));
          writer = null;
        }
        if (writer == null) {
          writer = new PartWriter(shard, schema, targetBytes, zstd);
        }
        writer.add(updates);
      }
      if (writer != null) {
        parts.add(upload(writer));
      }
    }
    return parts;
  }

  private Part upload(PartWriter writer) throws IOException {
    String key = keys.next();
    PartWriter.Finished finished = writer.finish(key);
    store.put(key, finished.body());
    return finished.part();
  }

  /**
   * A handle for updates that travel inside the log entry: {@code block} is a {@link RowBlock} of
   * them.
   *
   * @throws IOException when it isn't one, or its rows are not of the schema or not in order
   */
  public static Part inline(byte[] block, Schema schema) throws IOException {
    RowCodec codec = new RowCodec(schema);
    PartSums sums = new PartSums();
    try (UpdateCursor updates = RowBlock.decode(block)) {
      while (updates.next()) {
        byte[] row = updates.row();
        int offset = updates.rowOffset();
        int length = updates.rowLength();
        int counted = codec.countedBytes(row, offset, length);
        sums.add(row, offset, length, updates.time(), updates.diff(), counted);
      }
    } catch (IllegalArgumentException e) {
      throw new IOException("a block of rows is not of schema " + schema.id(), e);
    }
    return sums.part(new PartLocation.Inline(Base64.getEncoder().encodeToString(block)));
  }

  /**
   * The updates of a part, whether stored or inline, in order.
   *
   * @param written the schema the part was written with
   * @param wanted the schema in which rows are wanted; a column that the part lacks reads as NULL
   * @throws PartGoneException when the part's object isn't there
   * @throws IOException naming the part, here or as the cursor moves, when its bytes are wrong
   */
  public UpdateCursor read(Part part, Schema written, Schema wanted) throws IOException {
    Evolution.check(written, wanted);
    return Evolution.isPlain(written, wanted)
        ? read(part, written, wanted, KeyRange.ALL)
        : Evolution.recode(read(part, written, written, KeyRange.ALL), written, wanted);
  }

  /**
   * The updates of a part in a schema that is plain ({@link Evolution#isPlain}); those outside the
   * range may be missing.
   */
  UpdateCursor read(Part part, Schema written, Schema wanted, KeyRange range) throws IOException {
    if (part.location() instanceof PartLocation.Stored stored) {
      PartFile file = PartFile.open(store, stored, shard, fetchBytes);
      return new PartCursor(file, part, written, wanted, range);
    }
    byte[] block;
    try {
      block = Base64.getDecoder().decode(((PartLocation.Inline) part.location()).base64());
    } catch (IllegalArgumentException e) {
      throw new IOException("an inline part is corrupt: it isn't base64", e);
    }
    return Evolution.recode(RowBlock.decode(block), written, wanted);
  }

  /** The updates of a run's parts one after another, one part open at a time. */
  public UpdateCursor readRun(List<Part> run, Schema written, Schema wanted) throws IOException {
    return whole(run, written, wanted);
  }

  /**
   * A run is put in the wanted form as a whole: where rows change their order, those of one key may
   * lie in two parts.
   */
  private UpdateCursor whole(List<Part> run, Schema written, Schema wanted) throws IOException {
    Evolution.check(written, wanted);
    return Evolution.isPlain(written, wanted)
        ? new RunCursor(this, run, written, wanted, KeyRange.ALL)
        : Evolution.recode(
            new RunCursor(this, run, written, written, KeyRange.ALL), written, wanted);
  }

  /**
   * The updates of a run whose rows, in the wanted schema, lie in a range. Parts and row groups
   * that have none are not fetched.
   */
  public UpdateCursor readRun(List<Part> run, Schema written, Schema wanted, KeyRange range)
      throws IOException {
    if (range.isAll()) {
      return readRun(run, written, wanted);
    }
    if (!Evolution.keepsBounds(written, wanted)) {
      return new RangeCursor(whole(run, written, wanted), range);
    }
    Evolution.check(written, wanted);
    boolean longer = written.columns().size() < wanted.columns().size();
    List<Part> within = new ArrayList<>();
    for (Part part : run) {
      if (range.mayHold(part, longer)) {
        within.add(part);
      }
    }
    return new RangeCursor(new RunCursor(this, within, written, wanted, range), range);
  }

  /**
   * Rows at which a part may be cut, and the row bytes from each to the next, about: one a row
   * group. Costs a request or two.
   */
  public List<Sample> samples(Part part) throws IOException {
    if (!(part.location() instanceof PartLocation.Stored stored)) {
      return List.of(Sample.of(part));
    }
    PartFile file = PartFile.open(store, stored, shard, 0);
    try {
      List<RowGroups.Bounds> groups = RowGroups.of(file.footer());
      List<Sample> samples = new ArrayList<>();
      double bytesPerRow = (double) part.bytes() / Math.max(1, part.rows());
      for (int i = 0; i < groups.size(); i++) {
        long rows = file.footer().getRow_groups().get(i).getNum_rows();
        samples.add(new Sample(groups.get(i).least(), (long) (rows * bytesPerRow)));
      }
      return samples.isEmpty() ? List.of(Sample.of(part)) : samples;
    } catch (IOException | RuntimeException e) {
      throw file.named(e);
    }
  }

  /**
   * A row, and how much comes from it on.
   *
   * @param key the beginning of the encoded row, lower-case hex; empty when it isn't known
   * @param bytes the row bytes up to the next sample of the run
   */
  public record Sample(String key, long bytes) {
    /** What a part's handle says. */
    public static Sample of(Part part) {
      return new Sample(part.minKey() == null ? "" : part.minKey(), part.bytes());
    }
  }
}
