package dev.tidemark.part;

import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.List;

/**
 * Writes and reads the parts of one shard. Thread-safe; uploads nothing that a caller hasn't asked
 * for, deletes nothing.
 */
public final class PartStore {
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
  public PartStore(ObjectStore store, String shard, long targetBytes, KeySource keys) {}

  /**
   * Writes what is left of a cursor as one run of one or more parts, uploaded when this returns.
   * Memory: one part.
   *
   * @return the handles in order; none when the cursor had no update
   */
  public List<Part> writeRun(UpdateCursor updates, Schema schema) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * A handle for updates that travel inside the log entry: {@code block} is a {@link RowBlock} of
   * them.
   */
  public static Part inline(byte[] block, Schema schema) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * The updates of a part, whether stored or inline, in order.
   *
   * @param written the schema the part was written with
   * @param wanted the schema in which rows are wanted; a column that the part lacks reads as NULL
   */
  public UpdateCursor read(Part part, Schema written, Schema wanted) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The updates of a run's parts one after another. */
  public UpdateCursor readRun(List<Part> run, Schema written, Schema wanted) throws IOException {
    throw new UnsupportedOperationException();
  }
}
