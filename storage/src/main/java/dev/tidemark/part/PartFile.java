package dev.tidemark.part;

import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.Util;
import org.jspecify.annotations.Nullable;

/**
 * The object of a part, open for reading. A small one is fetched whole and its checksum compared;
 * of a large one the footer, then what is asked for, whose pages have checksums of their own.
 */
final class PartFile {
  /** Below this one GET is cheaper than several. */
  static final long WHOLE_BYTES = 8L << 20;

  private static final int TAIL_BYTES = 64 << 10;
  private static final byte[] MAGIC = {'P', 'A', 'R', '1'};

  private final ObjectStore store;
  private final PartLocation.Stored location;
  private final byte @Nullable [] whole;
  private final FileMetaData footer;
  private final long fetchBytes;

  private PartFile(
      ObjectStore store,
      PartLocation.Stored location,
      byte @Nullable [] whole,
      FileMetaData footer,
      long fetchBytes) {
    this.fetchBytes = fetchBytes;
    this.store = store;
    this.location = location;
    this.whole = whole;
    this.footer = footer;
  }

  /**
   * Opens a part.
   *
   * @param fetchBytes how much of it to hold at a time, about
   */
  static PartFile open(
      ObjectStore store, PartLocation.Stored location, String shard, long fetchBytes)
      throws IOException {
    try {
      byte[] whole = null;
      FileMetaData footer;
      long size = location.sizeBytes();
      if (size <= TAIL_BYTES || size < Math.min(WHOLE_BYTES, fetchBytes)) {
        whole = store.get(location.key()).orElseThrow(() -> gone(store, location));
        checkWhole(whole, location);
        footer = footer(whole, whole.length, store, location);
      } else {
        byte[] tail = fetch(store, location, size - TAIL_BYTES, TAIL_BYTES);
        footer = footer(tail, size, store, location);
      }
      checkFormat(footer, shard);
      return new PartFile(store, location, whole, footer, fetchBytes);
    } catch (IOException | RuntimeException e) {
      throw named(store, location, e);
    }
  }

  private static void checkWhole(byte[] whole, PartLocation.Stored location) throws IOException {
    if (whole.length != location.sizeBytes()) {
      throw new IOException("it has " + whole.length + " bytes, not " + location.sizeBytes());
    }
    CRC32C crc = new CRC32C();
    crc.update(whole);
    if (!HexFormat.of().toHexDigits((int) crc.getValue()).equals(location.crc32c())) {
      throw new IOException("its checksum is not " + location.crc32c());
    }
  }

  private static FileMetaData footer(
      byte[] tail, long size, ObjectStore store, PartLocation.Stored location) throws IOException {
    if (tail.length < 12
        || !HexFormat.of()
            .formatHex(tail, tail.length - 4, tail.length)
            .equals(HexFormat.of().formatHex(MAGIC))) {
      throw new IOException("it is no Parquet file");
    }
    int length = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt(tail.length - 8);
    if (length <= 0 || length > size - 12) {
      throw new IOException("its footer has a wrong length");
    }
    byte[] bytes = tail;
    int from = tail.length - 8 - length;
    if (from < 0) {
      bytes = fetch(store, location, size - 8 - length, length);
      from = 0;
    }
    // No list in it can be longer than it is itself, whatever a damaged one says.
    return Util.readFileMetaData(new ByteArrayInputStream(bytes, from, length), length);
  }

  private static void checkFormat(FileMetaData footer, String shard) throws IOException {
    Map<String, String> said = new HashMap<>();
    if (footer.isSetKey_value_metadata()) {
      for (KeyValue pair : footer.getKey_value_metadata()) {
        said.put(pair.getKey(), pair.getValue());
      }
    }
    String format = said.getOrDefault("tidemark.format", "none");
    if (!format.startsWith("1.")) {
      throw new IOException("its format is " + format + ", this build reads 1.x");
    }
    if (!shard.equals(said.get("tidemark.shard"))) {
      throw new IOException("it is of another shard, " + said.get("tidemark.shard"));
    }
  }

  FileMetaData footer() {
    return footer;
  }

  /** Bytes of the file, and where in it they begin. */
  static final class Range {
    final byte[] bytes;
    final long offset;

    Range(byte[] bytes, long offset) {
      this.bytes = bytes;
      this.offset = offset;
    }
  }

  /** How much of a row group to hold at a time. */
  long fetchBytes() {
    return whole == null ? fetchBytes : Long.MAX_VALUE;
  }

  /** The bytes of a range, or more. */
  Range range(long offset, long length) throws IOException {
    if (whole != null) {
      return new Range(whole, 0);
    }
    if (offset < 0 || length < 0 || offset > location.sizeBytes() - length) {
      throw new IOException("a row group lies outside its file");
    }
    return new Range(fetch(store, location, offset, Math.toIntExact(length)), offset);
  }

  private static byte[] fetch(
      ObjectStore store, PartLocation.Stored location, long offset, int length) throws IOException {
    return store.getRange(location.key(), offset, length).orElseThrow(() -> gone(store, location));
  }

  private static PartGoneException gone(ObjectStore store, PartLocation.Stored location) {
    return new PartGoneException("part " + location.key() + " is not there in " + store.location());
  }

  /** The same failure, naming the part. */
  IOException named(Exception failure) {
    return named(store, location, failure);
  }

  private static IOException named(
      ObjectStore store, PartLocation.Stored location, Exception failure) {
    if (failure instanceof StoreException || failure instanceof PartGoneException) {
      return (IOException) failure;
    }
    return new IOException(
        "part "
            + location.key()
            + " in "
            + store.location()
            + " is corrupt: "
            + (failure instanceof IOException ? failure.getMessage() : failure.toString()),
        failure);
  }

  @Override
  public String toString() {
    return "part " + location.key();
  }
}
