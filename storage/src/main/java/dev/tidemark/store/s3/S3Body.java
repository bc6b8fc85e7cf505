package dev.tidemark.store.s3;

import dev.tidemark.store.Body;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32C;
import software.amazon.awssdk.core.sync.RequestBody;

/** A stretch of a body, to be sent as often as need be without copying it. */
final class S3Body {
  private record Piece(Body of, int segment, int from, int length) {
    byte[] array() {
      return of.segments().get(segment);
    }
  }

  private final List<Piece> pieces = new ArrayList<>();
  private final long sizeBytes;

  S3Body(Body body) {
    this(body, 0, body.sizeBytes());
  }

  S3Body(Body body, long offset, long sizeBytes) {
    this.sizeBytes = sizeBytes;
    long start = 0;
    for (int segment = 0; segment < body.segments().size(); segment++) {
      int length = body.segments().get(segment).length;
      long from = Math.max(0, offset - start);
      long to = Math.min(length, offset + sizeBytes - start);
      if (from < to) {
        pieces.add(new Piece(body, segment, (int) from, (int) (to - from)));
      }
      start += length;
    }
  }

  long sizeBytes() {
    return sizeBytes;
  }

  RequestBody request() {
    return RequestBody.fromContentProvider(this::stream, sizeBytes, "application/octet-stream");
  }

  private InputStream stream() {
    List<InputStream> streams = new ArrayList<>();
    for (Piece piece : pieces) {
      streams.add(new ByteArrayInputStream(piece.array(), piece.from(), piece.length()));
    }
    return streams.size() == 1
        ? streams.get(0)
        : new SequenceInputStream(Collections.enumeration(streams));
  }

  /** The CRC32C as four bytes. */
  byte[] checksum() {
    CRC32C crc = new CRC32C();
    for (Piece piece : pieces) {
      crc.update(piece.array(), piece.from(), piece.length());
    }
    return ByteBuffer.allocate(4).putInt((int) crc.getValue()).array();
  }

  /** A checksum as S3's headers have it. */
  static String text(byte[] checksum) {
    return Base64.getEncoder().encodeToString(checksum);
  }
}
