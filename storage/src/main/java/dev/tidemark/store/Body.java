package dev.tidemark.store;

import java.util.List;

/**
 * Bytes to store, in segments that are sent one after another; they can be sent as often as need
 * be.
 *
 * @param segments the bytes
 */
public record Body(List<byte[]> segments) {
  /** Copies the list, not the bytes. */
  public Body {
    segments = List.copyOf(segments);
  }

  /** One segment. */
  public static Body of(byte[] bytes) {
    return new Body(List.of(bytes));
  }

  /** The length of all segments. */
  public long sizeBytes() {
    long size = 0;
    for (byte[] segment : segments) {
      size += segment.length;
    }
    return size;
  }
}
