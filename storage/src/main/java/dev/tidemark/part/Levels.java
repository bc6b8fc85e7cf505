package dev.tidemark.part;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridEncoder;
import org.jspecify.annotations.Nullable;

/**
 * The repetition or definition levels of a page, as Parquet's run-length / bit-packing hybrid. Most
 * pages have one run, which needs no encoder.
 */
final class Levels {
  private final int bitWidth;
  private @Nullable RunLengthBitPackingHybridEncoder encoder;
  private boolean spilled;
  private int level;
  private int run;

  Levels(int maxLevel) {
    this.bitWidth = bitWidth(maxLevel);
  }

  static int bitWidth(int maxLevel) {
    return 32 - Integer.numberOfLeadingZeros(maxLevel);
  }

  void add(int next) throws IOException {
    if (next != level) {
      spill();
      level = next;
    }
    run++;
  }

  private RunLengthBitPackingHybridEncoder spill() throws IOException {
    RunLengthBitPackingHybridEncoder to = encoder;
    if (to == null) {
      to =
          new RunLengthBitPackingHybridEncoder(
              bitWidth, 64, 64 << 10, new HeapByteBufferAllocator());
      encoder = to;
    }
    spilled |= run > 0;
    for (; run > 0; run--) {
      to.writeInt(level);
    }
    return to;
  }

  /** The bytes of all levels since the last call. */
  byte[] take() throws IOException {
    if (spilled) {
      RunLengthBitPackingHybridEncoder from = spill();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      from.toBytes().writeAllTo(bytes);
      from.reset();
      spilled = false;
      return bytes.toByteArray();
    }
    byte[] bytes = new byte[Varint.MAX_BYTES + 1];
    int at = Varint.put(bytes, 0, (long) run << 1);
    bytes[at++] = (byte) level;
    run = 0;
    return Arrays.copyOf(bytes, at);
  }

  /**
   * Decodes {@code count} levels.
   *
   * @throws IOException when there aren't as many, or one is above {@code maxLevel}
   */
  static void decode(byte[] in, int from, int to, int maxLevel, byte[] levels, int count)
      throws IOException {
    int bitWidth = bitWidth(maxLevel);
    Varint reader = new Varint(in, from, to);
    int done = 0;
    while (done < count) {
      long header = reader.take();
      long length = (header & 1) == 0 ? header >>> 1 : (header >>> 1) * 8;
      if (length <= 0 || length > Integer.MAX_VALUE / 8) {
        throw new IOException("a run of levels has a wrong length");
      }
      int run = (int) Math.min(length, count - done);
      if ((header & 1) == 0) {
        Arrays.fill(levels, done, done + run, in[reader.position()]);
        reader.skip(1);
      } else {
        int base = reader.position();
        if (length / 8 * bitWidth > reader.left()) {
          throw new IOException("a run of levels ends behind its page");
        }
        for (int i = 0; i < run; i++) {
          levels[done + i] = (byte) bits(in, base, i * bitWidth, bitWidth);
        }
        reader.skip((int) length / 8 * bitWidth);
      }
      done += run;
    }
    for (int i = 0; i < count; i++) {
      if (levels[i] < 0 || levels[i] > maxLevel) {
        throw new IOException("a level is out of range");
      }
    }
  }

  private static int bits(byte[] in, int base, int bit, int width) {
    int value = 0;
    for (int i = 0; i < width; i++) {
      int at = bit + i;
      value |= (in[base + (at >>> 3)] >>> (at & 7) & 1) << i;
    }
    return value;
  }
}
