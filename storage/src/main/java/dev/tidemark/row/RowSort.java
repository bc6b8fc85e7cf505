package dev.tidemark.row;

/**
 * Sorts a buffer's index: LSD radix on the prefixes, a byte at a time, bytes that are the same in
 * all left out; then, within equal prefixes, a merge sort by full comparison.
 */
final class RowSort {
  /** Below this many a radix pass costs more than it saves. */
  private static final int RADIX_MIN = 64;

  private static final int INSERTION_MAX = 12;

  private final RowBuffer buffer;
  private final long[] prefixes;
  private final long[] addresses;
  private final int size;

  RowSort(RowBuffer buffer, long[] prefixes, long[] addresses, int size) {
    this.buffer = buffer;
    this.prefixes = prefixes;
    this.addresses = addresses;
    this.size = size;
  }

  /** How many leading bytes of the prefix are the same in all. */
  int constantLeadingBytes() {
    long first = prefixes[0];
    long differing = 0;
    for (int i = 1; i < size; i++) {
      differing |= prefixes[i] ^ first;
    }
    return Long.numberOfLeadingZeros(differing) >>> 3;
  }

  /** Sorts; the rows share at least {@code known} bytes where prefixes are equal. */
  void sort(int known) {
    if (size < RADIX_MIN) {
      insertionSortByPrefix();
    } else {
      radixSort();
    }
    long[] scratch = null;
    for (int from = 0; from < size; ) {
      int to = from + 1;
      while (to < size && prefixes[to] == prefixes[from]) {
        to++;
      }
      if (to - from > 1) {
        if (to - from > INSERTION_MAX && (scratch == null || scratch.length < to - from)) {
          scratch = new long[Math.max(to - from, 1024)];
        }
        sortEqual(from, to, known, scratch == null ? addresses : scratch);
      }
      from = to;
    }
  }

  private void radixSort() {
    int[][] counts = new int[8][256];
    for (int i = 0; i < size; i++) {
      long p = prefixes[i];
      for (int b = 0; b < 8; b++) {
        counts[b][(int) (p >>> (8 * b)) & 0xFF]++;
      }
    }
    long[] fromPrefixes = prefixes;
    long[] fromAddresses = addresses;
    long[] toPrefixes = new long[size];
    long[] toAddresses = new long[size];
    for (int b = 0; b < 8; b++) {
      int[] count = counts[b];
      int shift = 8 * b;
      if (count[(int) (prefixes[0] >>> shift) & 0xFF] == size) {
        continue;
      }
      int start = 0;
      for (int d = 0; d < 256; d++) {
        int n = count[d];
        count[d] = start;
        start += n;
      }
      for (int i = 0; i < size; i++) {
        long p = fromPrefixes[i];
        int to = count[(int) (p >>> shift) & 0xFF]++;
        toPrefixes[to] = p;
        toAddresses[to] = fromAddresses[i];
      }
      long[] swap = fromPrefixes;
      fromPrefixes = toPrefixes;
      toPrefixes = swap;
      swap = fromAddresses;
      fromAddresses = toAddresses;
      toAddresses = swap;
    }
    if (fromPrefixes != prefixes) {
      System.arraycopy(fromPrefixes, 0, prefixes, 0, size);
      System.arraycopy(fromAddresses, 0, addresses, 0, size);
    }
  }

  private void insertionSortByPrefix() {
    for (int i = 1; i < size; i++) {
      long p = prefixes[i];
      long a = addresses[i];
      int j = i - 1;
      while (j >= 0 && Long.compareUnsigned(prefixes[j], p) > 0) {
        prefixes[j + 1] = prefixes[j];
        addresses[j + 1] = addresses[j];
        j--;
      }
      prefixes[j + 1] = p;
      addresses[j + 1] = a;
    }
  }

  private void sortEqual(int from, int to, int known, long[] scratch) {
    if (to - from <= INSERTION_MAX) {
      for (int i = from + 1; i < to; i++) {
        long a = addresses[i];
        int j = i - 1;
        while (j >= from && buffer.compare(addresses[j], a, known) > 0) {
          addresses[j + 1] = addresses[j];
          j--;
        }
        addresses[j + 1] = a;
      }
      return;
    }
    int middle = (from + to) >>> 1;
    sortEqual(from, middle, known, scratch);
    sortEqual(middle, to, known, scratch);
    if (buffer.compare(addresses[middle - 1], addresses[middle], known) <= 0) {
      return;
    }
    int left = middle - from;
    System.arraycopy(addresses, from, scratch, 0, left);
    int i = 0;
    int j = middle;
    int k = from;
    while (i < left && j < to) {
      addresses[k++] =
          buffer.compare(scratch[i], addresses[j], known) <= 0 ? scratch[i++] : addresses[j++];
    }
    System.arraycopy(scratch, i, addresses, k, left - i);
  }
}
