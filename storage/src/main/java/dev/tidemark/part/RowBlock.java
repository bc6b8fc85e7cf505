package dev.tidemark.part;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The canonical encoding of a sorted sequence of updates, compressed with zstd: what inline parts,
 * messages between operators and held chunks hold.
 *
 * <p>Bytes: a version (1), the number of updates and the length of their encoding (varints), the
 * {@link CanonicalRows encoding} as one zstd frame, and the CRC32C of all before it, little-endian.
 * Equal updates give equal bytes under one version of zstd; without compression, always.
 */
public final class RowBlock {
  private static final byte VERSION = 1;
  private static final int LEVEL = 1;
  private static final int CRC_BYTES = 4;

  /** No zstd frame holds more than this many times its own bytes: a bound on what lies allocate. */
  static final long MAX_RATIO = 40_000;

  private RowBlock() {}

  /** Encodes what is left of a cursor. */
  public static byte[] encode(UpdateCursor updates) throws IOException {
    CanonicalRows rows = new CanonicalRows(8 << 10);
    long count = 0;
    while (updates.next()) {
      rows.add(
          updates.row(), updates.rowOffset(), updates.rowLength(), updates.time(), updates.diff());
      count++;
    }
    byte[] raw = rows.bytes();
    int rawLength = rows.length();
    long bound = Zstd.compressBound(rawLength);
    if (bound > Integer.MAX_VALUE - 64) {
      throw new IOException("a block of " + rawLength + " bytes is too large");
    }
    byte[] block = new byte[32 + (int) bound];
    block[0] = VERSION;
    int at = Varint.put(block, 1, count);
    at = Varint.put(block, at, rawLength);
    long size = Zstd.compressByteArray(block, at, block.length - at, raw, 0, rawLength, LEVEL);
    if (Zstd.isError(size)) {
      throw new IOException("zstd can't compress a block: " + Zstd.getErrorName(size));
    }
    at += (int) size;
    ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).putInt(at, crc(block, at));
    return Arrays.copyOf(block, at + CRC_BYTES);
  }

  /**
   * The updates of a block.
   *
   * @throws IOException when the bytes are no block, here or as the cursor moves
   */
  public static UpdateCursor decode(byte[] block) throws IOException {
    if (block.length < 3 + CRC_BYTES) {
      throw corrupt("it has " + block.length + " bytes");
    }
    if (block[0] != VERSION) {
      throw corrupt("its version is " + block[0] + ", this build reads " + VERSION);
    }
    int end = block.length - CRC_BYTES;
    if (ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).getInt(end) != crc(block, end)) {
      throw corrupt("its checksum is wrong");
    }
    Varint in = new Varint(block, 1, end);
    long count = in.take();
    long rawLength = in.take();
    int frame = end - in.position();
    if (rawLength < 0 || rawLength > Integer.MAX_VALUE - 16 || rawLength > MAX_RATIO * frame) {
      throw corrupt("its length is wrong");
    }
    byte[] raw = new byte[(int) rawLength];
    try {
      long size = Zstd.decompressByteArray(raw, 0, raw.length, block, in.position(), frame);
      if (Zstd.isError(size) || size != rawLength) {
        throw corrupt("it can't be decompressed");
      }
    } catch (ZstdException e) {
      throw new IOException("a block of rows is corrupt: it can't be decompressed", e);
    }
    return new CanonicalRows.Cursor(raw, raw.length, count);
  }

  private static int crc(byte[] bytes, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  static IOException corrupt(String reason) {
    return new IOException("a block of rows is corrupt: " + reason);
  }
}
