package dev.tidemark.part;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.Util;
import org.jspecify.annotations.Nullable;

/**
 * The levels and values of one leaf column of a row group, one after another, in place in the
 * decompressed page. Reads what {@link ColumnPages} writes: PLAIN pages of version 1, zstd.
 */
final class ColumnValues {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final ZstdDecompressCtx zstd;
  private final int maxRepetition;
  private final int maxDefinition;

  /** A page's header is no longer, with the bounds that it may have. */
  private static final int HEADER_BYTES = 8 << 10;

  private byte[] chunk = new byte[0];
  private int chunkPosition;
  private int chunkEnd;

  /** Where the rest of the column is: from the file's {@code restFrom} on, {@code restSize}. */
  private @Nullable PartFile rest;

  private long restFrom;
  private long restSize;
  private int window;
  private long rawSizeLimit;
  private long valuesLeft;

  private byte[] page = new byte[0];
  private int position;
  private int limit;
  private byte[] repetitions = new byte[0];
  private byte[] definitions = new byte[0];
  private int pageValues;
  private int next;
  private int bit;

  ColumnValues(ColumnDescriptor descriptor, ZstdDecompressCtx zstd) {
    this.zstd = zstd;
    this.maxRepetition = descriptor.getMaxRepetitionLevel();
    this.maxDefinition = descriptor.getMaxDefinitionLevel();
  }

  /** Begins a row group, whose bytes are in {@code group}, which begins at {@code groupOffset}. */
  void start(ColumnMetaData meta, byte[] group, long groupOffset) throws IOException {
    long from = meta.getData_page_offset() - groupOffset;
    long size = meta.getTotal_compressed_size();
    if (from < 0 || size < 0 || from > group.length || size > group.length - from) {
      throw new IOException("a column lies outside its row group");
    }
    chunk = group;
    chunkPosition = (int) from;
    chunkEnd = (int) (from + size);
    rest = null;
    restSize = 0;
    begin(meta);
  }

  /** Begins a row group whose bytes are fetched from the file, about {@code window} at a time. */
  void start(ColumnMetaData meta, PartFile file, int window) throws IOException {
    if (meta.getTotal_compressed_size() < 0) {
      throw new IOException("a column lies outside its row group");
    }
    chunk = new byte[0];
    chunkPosition = 0;
    chunkEnd = 0;
    rest = file;
    restFrom = meta.getData_page_offset();
    restSize = meta.getTotal_compressed_size();
    this.window = window;
    begin(meta);
  }

  private void begin(ColumnMetaData meta) {
    long size = meta.getTotal_compressed_size();
    rawSizeLimit = Math.min(meta.getTotal_uncompressed_size(), size * RowBlock.MAX_RATIO);
    valuesLeft = meta.getNum_values();
    pageValues = 0;
    next = 0;
  }

  /** The definition level of the next entry. */
  int peekDefinition() throws IOException {
    if (next == pageValues) {
      nextPage();
    }
    return maxDefinition == 0 ? 0 : definitions[next];
  }

  /** The repetition level of the next entry, 0 at the end. */
  int peekRepetition() throws IOException {
    if (next == pageValues) {
      if (valuesLeft == 0) {
        return 0;
      }
      nextPage();
    }
    return maxRepetition == 0 ? 0 : repetitions[next];
  }

  /** Moves over the next entry; whether it has a value, which is then to be taken. */
  boolean advance() throws IOException {
    if (next == pageValues) {
      nextPage();
    }
    int at = next++;
    return maxDefinition == 0 || definitions[at] == maxDefinition;
  }

  /** Fetches on until there are as many bytes, or the column ends. */
  private void fetch(int needed) throws IOException {
    int have = chunkEnd - chunkPosition;
    if (rest == null || restSize == 0 || have >= needed) {
      return;
    }
    int more = (int) Math.min(restSize, Math.max(window, needed) - have);
    PartFile.Range range = rest.range(restFrom, more);
    byte[] bytes = new byte[have + more];
    System.arraycopy(chunk, chunkPosition, bytes, 0, have);
    System.arraycopy(range.bytes, (int) (restFrom - range.offset), bytes, have, more);
    chunk = bytes;
    chunkPosition = 0;
    chunkEnd = bytes.length;
    restFrom += more;
    restSize -= more;
  }

  private void nextPage() throws IOException {
    if (valuesLeft <= 0) {
      throw new IOException("a column ends before its rows do");
    }
    fetch(HEADER_BYTES);
    ByteArrayInputStream in =
        new ByteArrayInputStream(chunk, chunkPosition, chunkEnd - chunkPosition);
    PageHeader header = Util.readPageHeader(in);
    int at = chunkEnd - in.available();
    int size = header.getCompressed_page_size();
    int rawSize = header.getUncompressed_page_size();
    if (header.getType() != PageType.DATA_PAGE
        || header.getData_page_header().getEncoding() != Encoding.PLAIN) {
      throw new IOException("a page is not of the kind that Tidemark writes");
    }
    int count = header.getData_page_header().getNum_values();
    if (size >= 0 && size <= chunkEnd - at + restSize) {
      int headerSize = at - chunkPosition;
      fetch(headerSize + size);
      at = chunkPosition + headerSize;
    }
    if (size < 0 || size > chunkEnd - at || rawSize < 0 || rawSize > rawSizeLimit) {
      throw new IOException("a page has a wrong size");
    }
    if (count <= 0 || count > valuesLeft) {
      throw new IOException("a page has a wrong number of values");
    }
    CRC32 crc = new CRC32();
    crc.update(chunk, at, size);
    if (!header.isSetCrc() || header.getCrc() != (int) crc.getValue()) {
      throw new IOException("a page's checksum is wrong");
    }
    if (page.length < rawSize) {
      page = new byte[rawSize];
    }
    if (zstd.decompressByteArray(page, 0, rawSize, chunk, at, size) != rawSize) {
      throw new IOException("a page has a wrong size");
    }
    chunkPosition = at + size;
    valuesLeft -= count;
    pageValues = count;
    next = 0;
    bit = 0;
    position = 0;
    limit = rawSize;
    if (maxRepetition > 0) {
      repetitions = levels(repetitions, maxRepetition);
    }
    if (maxDefinition > 0) {
      definitions = levels(definitions, maxDefinition);
    }
  }

  private byte[] levels(byte[] reused, int maxLevel) throws IOException {
    byte[] levels = reused.length >= pageValues ? reused : new byte[pageValues];
    int size = takeInt();
    int from = position;
    skip(size);
    Levels.decode(page, from, position, maxLevel, levels, pageValues);
    return levels;
  }

  private void skip(int size) throws IOException {
    if (size < 0 || size > limit - position) {
      throw new IOException("a value ends behind its page");
    }
    position += size;
  }

  int takeInt() throws IOException {
    int at = position;
    skip(4);
    return (int) INTS.get(page, at);
  }

  long takeLong() throws IOException {
    int at = position;
    skip(8);
    return (long) LONGS.get(page, at);
  }

  boolean takeBoolean() throws IOException {
    if ((bit & 7) == 0) {
      skip(1);
    }
    return (page[position - 1] >>> (bit++ & 7) & 1) != 0;
  }

  /** Moves over a value of fixed length; it lies in {@link #page()} from what this gives on. */
  int takeFixed(int size) throws IOException {
    int at = position;
    skip(size);
    return at;
  }

  byte[] page() {
    return page;
  }
}
