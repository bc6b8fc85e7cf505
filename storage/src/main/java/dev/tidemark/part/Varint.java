package dev.tidemark.part;

import java.io.IOException;

/** Numbers in seven bits a byte, the lowest first; signed ones zigzag. */
final class Varint {
  static final int MAX_BYTES = 10;

  private final byte[] bytes;
  private final int limit;
  private int position;

  /** Reads from a place on. */
  Varint(byte[] bytes, int position, int limit) {
    this.bytes = bytes;
    this.position = position;
    this.limit = limit;
  }

  int position() {
    return position;
  }

  int left() {
    return limit - position;
  }

  void skip(int size) {
    position += size;
  }

  /** The next number, in the shortest form only. */
  long take() throws IOException {
    long value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (position >= limit) {
        throw RowBlock.corrupt("it ends within a number");
      }
      byte b = bytes[position++];
      value |= (long) (b & 0x7F) << shift;
      if (b >= 0) {
        if ((b == 0 && shift > 0) || (shift == 63 && b > 1)) {
          throw RowBlock.corrupt("it has a number in no canonical form");
        }
        return value;
      }
    }
    throw RowBlock.corrupt("it has a number beyond 64 bits");
  }

  /** The next signed number. */
  long takeSigned() throws IOException {
    long value = take();
    return value >>> 1 ^ -(value & 1);
  }

  /** Puts a number and gives the place after it. */
  static int put(byte[] bytes, int offset, long value) {
    int at = offset;
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[at++] = (byte) rest;
    return at;
  }

  /** Puts a signed number and gives the place after it. */
  static int putSigned(byte[] bytes, int offset, long value) {
    return put(bytes, offset, value << 1 ^ value >> 63);
  }
}
