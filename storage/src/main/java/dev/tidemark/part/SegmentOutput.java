package dev.tidemark.part;

import dev.tidemark.store.Body;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;

/** A file in memory, in segments that grow with it. */
final class SegmentOutput extends PositionOutputStream implements OutputFile {
  private static final int FIRST_BYTES = 8 << 10;
  private static final int MAX_BYTES = 1 << 20;

  private final List<byte[]> full = new ArrayList<>();
  private byte[] segment = new byte[FIRST_BYTES];
  private int length;
  private long before;

  @Override
  public long getPos() {
    return before + length;
  }

  @Override
  public void write(int b) {
    if (length == segment.length) {
      next();
    }
    segment[length++] = (byte) b;
  }

  @Override
  public void write(byte[] bytes, int offset, int size) {
    int at = offset;
    int left = size;
    while (left > 0) {
      if (length == segment.length) {
        next();
      }
      int part = Math.min(left, segment.length - length);
      System.arraycopy(bytes, at, segment, length, part);
      length += part;
      at += part;
      left -= part;
    }
  }

  private void next() {
    full.add(segment);
    before += length;
    segment = new byte[Math.min(MAX_BYTES, segment.length * 2)];
    length = 0;
  }

  /** The bytes written. */
  Body body() {
    List<byte[]> segments = new ArrayList<>(full);
    segments.add(Arrays.copyOf(segment, length));
    return new Body(segments);
  }

  /** The CRC32C of a body, eight lower-case hex digits. */
  static String crc32c(Body body) {
    CRC32C crc = new CRC32C();
    for (byte[] segment : body.segments()) {
      crc.update(segment);
    }
    return HexFormat.of().toHexDigits((int) crc.getValue());
  }

  @Override
  public PositionOutputStream create(long blockSizeHint) {
    return this;
  }

  @Override
  public PositionOutputStream createOrOverwrite(long blockSizeHint) {
    return this;
  }

  @Override
  public boolean supportsBlockSize() {
    return false;
  }

  @Override
  public long defaultBlockSize() {
    return 0;
  }
}
