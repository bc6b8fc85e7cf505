package dev.tidemark.row;

import java.util.Arrays;

/** A place in an encoded row that moves on as values are taken. */
final class RowInput {
  final byte[] bytes;
  final int limit;
  int position;

  RowInput(byte[] bytes, int offset, int length) {
    this.bytes = bytes;
    this.position = offset;
    this.limit = offset + length;
  }

  byte take() {
    return bytes[position++];
  }

  /** Moves on and gives the place before. */
  int take(int size) {
    int at = position;
    position += size;
    return at;
  }

  /** Skips a string or binary and gives its length without escapes. */
  int skipBytes() {
    int from = position;
    int escapes = 0;
    int zero = Memcomparable.zeroAt(bytes, from, limit);
    while (!Memcomparable.endsAt(bytes, zero)) {
      escapes++;
      zero = Memcomparable.zeroAt(bytes, zero + 2, limit);
    }
    position = zero + 2;
    return zero - from - escapes;
  }

  /** Takes a string or binary. */
  byte[] takeBytes() {
    int from = position;
    byte[] value = new byte[skipBytes()];
    if (position - 2 - from == value.length) {
      return Arrays.copyOfRange(bytes, from, from + value.length);
    }
    int at = from;
    for (int i = 0; i < value.length; i++) {
      value[i] = bytes[at];
      at += bytes[at] == 0 ? 2 : 1;
    }
    return value;
  }
}
