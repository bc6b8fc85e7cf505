package dev.tidemark.spine;

/** Where a part's rows are. */
public sealed interface PartLocation {
  /**
   * In an object of their own.
   *
   * @param key the object's key under the shard, {@code part/2026-11-30/<ulid>.parquet}
   * @param sizeBytes the object's length
   * @param crc32c the object's CRC32C, eight hex digits
   */
  record Stored(String key, long sizeBytes, String crc32c) implements PartLocation {}

  /**
   * In the log entry itself.
   *
   * @param base64 the rows' canonical encoding, zstd, base64
   */
  record Inline(String base64) implements PartLocation {}
}
