package dev.tidemark.part;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/**
 * Collects the values of one leaf column of a row group in PLAIN pages (v1), each compressed as
 * soon as it is full, and writes them out together.
 */
final class ColumnPages {
  static final int PAGE_BYTES = 128 << 10;
  static final int PAGE_VALUES = 20_000;

  /** Longer bounds than this make no one's search shorter. */
  private static final int MAX_BOUND_BYTES = 1 << 10;

  private static final int FIRST_BYTES = 4 << 10;
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final class Page {
    final int values;
    final int rows;
    final int rawSize;
    final byte[] compressed;
    final Statistics<?> statistics;

    Page(int values, int rows, int rawSize, byte[] compressed, Statistics<?> statistics) {
      this.values = values;
      this.rows = rows;
      this.rawSize = rawSize;
      this.compressed = compressed;
      this.statistics = statistics;
    }
  }

  private final ColumnDescriptor descriptor;
  private final ZstdCompressCtx zstd;
  private final int maxDefinition;
  private final boolean repeated;
  private final Levels repetitions;
  private final Levels definitions;
  private final List<Page> pages = new ArrayList<>();
  private long totalValues;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int length;
  private int values;
  private int rows;
  private int nulls;

  private long minNumber = Long.MAX_VALUE;
  private long maxNumber = Long.MIN_VALUE;
  private int minOffset = -1;
  private int minLength;
  private int maxOffset;
  private int maxLength;
  private int bits;

  ColumnPages(ColumnDescriptor descriptor, ZstdCompressCtx zstd) {
    this.descriptor = descriptor;
    this.zstd = zstd;
    this.maxDefinition = descriptor.getMaxDefinitionLevel();
    this.repeated = descriptor.getMaxRepetitionLevel() > 0;
    this.repetitions = new Levels(descriptor.getMaxRepetitionLevel());
    this.definitions = new Levels(maxDefinition);
  }

  /** Says that a value comes, which one of the methods below then adds. */
  void present(int repetition) throws IOException {
    level(repetition, maxDefinition);
  }

  /** Says that no value comes: something is NULL, or empty, at this definition level. */
  void absent(int repetition, int definition) throws IOException {
    level(repetition, definition);
    nulls++;
  }

  private void level(int repetition, int definition) throws IOException {
    if (repetition == 0) {
      if (length >= PAGE_BYTES || values >= PAGE_VALUES) {
        endPage();
      }
      rows++;
    }
    values++;
    if (maxDefinition > 0) {
      definitions.add(definition);
      if (repeated) {
        repetitions.add(repetition);
      }
    }
  }

  void addInt(int value) throws IOException {
    reserve(4);
    INTS.set(bytes, length, value);
    length += 4;
    bound(value);
  }

  void addLong(long value) throws IOException {
    reserve(8);
    LONGS.set(bytes, length, value);
    length += 8;
    bound(value);
  }

  /** A FLOAT. No bounds are kept: they can't say where NaN is. */
  void addFloatBits(int value) throws IOException {
    reserve(4);
    INTS.set(bytes, length, value);
    length += 4;
  }

  /** A DOUBLE, likewise. */
  void addDoubleBits(long value) throws IOException {
    reserve(8);
    LONGS.set(bytes, length, value);
    length += 8;
  }

  void addBoolean(boolean value) throws IOException {
    if ((bits & 7) == 0) {
      reserve(1);
      bytes[length++] = 0;
    }
    if (value) {
      bytes[length - 1] |= (byte) (1 << (bits & 7));
    }
    bits++;
  }

  /** A value of fixed length, big-endian. */
  void addFixed(byte[] value, int offset, int size) throws IOException {
    reserve(size);
    System.arraycopy(value, offset, bytes, length, size);
    length += size;
  }

  /** Begins a string or binary of at most {@code size} bytes, which go to {@link #bytes()}. */
  int beginBytes(int size) throws IOException {
    reserve(size + 4L);
    return length + 4;
  }

  byte[] bytes() {
    return bytes;
  }

  /** Ends the string or binary begun before; it has {@code size} bytes. */
  void endBytes(int size) {
    INTS.set(bytes, length, size);
    int at = length + 4;
    length = at + size;
    if (minOffset < 0) {
      minOffset = at;
      minLength = size;
      maxOffset = at;
      maxLength = size;
      return;
    }
    if (compare(at, size, maxOffset, maxLength) >= 0) {
      maxOffset = at;
      maxLength = size;
    } else if (compare(at, size, minOffset, minLength) < 0) {
      minOffset = at;
      minLength = size;
    }
  }

  private int compare(int a, int aLength, int b, int bLength) {
    return Arrays.compareUnsigned(bytes, a, a + aLength, bytes, b, b + bLength);
  }

  private void bound(long value) {
    minNumber = Math.min(minNumber, value);
    maxNumber = Math.max(maxNumber, value);
  }

  private void reserve(long more) throws IOException {
    long needed = length + more;
    if (needed > bytes.length) {
      if (needed > Integer.MAX_VALUE - 64) {
        throw new IOException("one row's values of " + descriptor + " exceed 2 GiB");
      }
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.min(Integer.MAX_VALUE - 64, Math.max(needed, bytes.length * 2L)));
    }
  }

  private void endPage() throws IOException {
    byte[] raw = bytes;
    int rawSize = length;
    if (maxDefinition > 0) {
      byte[] first = repeated ? repetitions.take() : new byte[0];
      byte[] second = definitions.take();
      int head = (repeated ? 4 + first.length : 0) + 4 + second.length;
      rawSize = Math.addExact(head, length);
      raw = new byte[rawSize];
      int at = 0;
      if (repeated) {
        INTS.set(raw, 0, first.length);
        System.arraycopy(first, 0, raw, 4, first.length);
        at = 4 + first.length;
      }
      INTS.set(raw, at, second.length);
      System.arraycopy(second, 0, raw, at + 4, second.length);
      System.arraycopy(bytes, 0, raw, head, length);
    }
    pages.add(new Page(values, rows, rawSize, compress(raw, rawSize), statistics()));
    totalValues += values;
    length = 0;
    values = 0;
    rows = 0;
    nulls = 0;
    minNumber = Long.MAX_VALUE;
    maxNumber = Long.MIN_VALUE;
    minOffset = -1;
    bits = 0;
    if (bytes.length > 8 * PAGE_BYTES) {
      bytes = new byte[FIRST_BYTES];
    }
  }

  private byte[] compress(byte[] raw, int size) throws IOException {
    long bound = Zstd.compressBound(size);
    if (bound > Integer.MAX_VALUE - 64) {
      throw new IOException("a page of " + descriptor + " exceeds 2 GiB");
    }
    byte[] target = new byte[(int) bound];
    int length = zstd.compressByteArray(target, 0, target.length, raw, 0, size);
    return Arrays.copyOf(target, length);
  }

  private Statistics<?> statistics() {
    Statistics.Builder builder =
        Statistics.getBuilderForReading(descriptor.getPrimitiveType()).withNumNulls(nulls);
    if (minOffset >= 0) {
      if (minLength <= MAX_BOUND_BYTES && maxLength <= MAX_BOUND_BYTES) {
        builder.withMin(Arrays.copyOfRange(bytes, minOffset, minOffset + minLength));
        builder.withMax(Arrays.copyOfRange(bytes, maxOffset, maxOffset + maxLength));
      }
    } else if (minNumber <= maxNumber) {
      builder.withMin(number(minNumber)).withMax(number(maxNumber));
    }
    return builder.build();
  }

  private byte[] number(long value) {
    byte[] raw = new byte[8];
    LONGS.set(raw, 0, value);
    return switch (descriptor.getPrimitiveType().getPrimitiveTypeName()) {
      case INT32 -> Arrays.copyOf(raw, 4);
      case INT64, INT96, BOOLEAN, FLOAT, DOUBLE, BINARY, FIXED_LEN_BYTE_ARRAY -> raw;
    };
  }

  /** Writes the column of a row group and begins the next. */
  void writeTo(ParquetFileWriter file) throws IOException {
    if (values > 0) {
      endPage();
    }
    file.startColumn(descriptor, totalValues, CompressionCodecName.ZSTD);
    for (Page page : pages) {
      file.writeDataPage(
          page.values,
          page.rawSize,
          BytesInput.from(page.compressed),
          page.statistics,
          page.rows,
          Encoding.RLE,
          Encoding.RLE,
          Encoding.PLAIN);
    }
    file.endColumn();
    pages.clear();
    totalValues = 0;
  }
}
