package dev.tidemark.part;

import dev.tidemark.row.UpdateCursor;
import java.io.IOException;

/**
 * The canonical encoding of a sorted sequence of updates, compressed with zstd: what inline parts,
 * messages between operators and held chunks hold. It begins with a version byte and ends with a
 * CRC32C of the encoding.
 */
public final class RowBlock {
  private RowBlock() {}

  /** Encodes what is left of a cursor. */
  public static byte[] encode(UpdateCursor updates) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The updates of a block. */
  public static UpdateCursor decode(byte[] block) throws IOException {
    throw new UnsupportedOperationException();
  }
}
