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

  private final ObjectStore store;
  private final String shard;
  private final long targetBytes;
  private final KeySource keys;

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
    this.store = store;
    this.shard = shard;
    this.targetBytes = targetBytes;
    this.keys = keys;
  }

  /** The same parts for work that can wait while the store is hard pressed. */
  public PartStore yielding() {
    return new PartStore(store.yielding(), shard, targetBytes, keys);
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
          writer = new PartWriter(shard, schema, zstd);
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
    if (part.location() instanceof PartLocation.Stored stored) {
      return new PartCursor(PartFile.open(store, stored, shard), part, written, wanted);
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
    return new RunCursor(this, run, written, wanted);
  }
}
