package dev.tidemark.part;

/** A place in an encoded row that moves on, and the bytes counted on the way. */
final class RowScan {
  byte[] bytes = new byte[0];
  int position;
  int limit;
  long counted;

  void start(byte[] row, int offset, int length) {
    bytes = row;
    position = offset;
    limit = offset + length;
    counted = 0;
  }

  byte take() {
    return bytes[position++];
  }

  /** Moves on and gives the place before. */
  int take(int size, int countedBytes) {
    int at = position;
    position += size;
    counted += countedBytes;
    return at;
  }
}
