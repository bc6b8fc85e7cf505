package dev.tidemark.bench;

import java.nio.charset.StandardCharsets;

/**
 * Rows of (k STRING of 16 bytes, ts BIGINT, v STRING of 100 bytes): row i of a subtask is a pure
 * function of seed, subtask and i. A key belongs to one subtask only, so the order per key is
 * defined and the end state can be computed.
 */
final class Generator {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
          .getBytes(StandardCharsets.US_ASCII);
  private static final int WORDS = 1024;

  private final long seed;
  private final long keys;
  private final int parallelism;
  private final byte[][] words = new byte[WORDS][8];

  Generator(long seed, long keys, int parallelism) {
    this.seed = seed;
    this.keys = keys;
    this.parallelism = parallelism;
    for (int word = 0; word < WORDS; word++) {
      long random = mix(seed * 31 + word + 1);
      for (int b = 0; b < 8; b++) {
        words[word][b] = ALPHABET[(int) (random & 63)];
        random >>>= 6;
      }
    }
  }

  static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  int keysPerSubtask() {
    return (int) (keys / parallelism);
  }

  /** The number, within its subtask, of the key of row {@code row}. */
  int localKey(int subtask, long row) {
    long hash = mix(seed ^ mix(row * parallelism + subtask)) >>> 1;
    return (int) (hash % (keys / parallelism));
  }

  /** Sixteen ASCII bytes. */
  byte[] key(int subtask, int localKey) {
    byte[] key = new byte[16];
    long random = mix((long) localKey * parallelism + subtask + 77);
    for (int b = 0; b < 16; b++) {
      key[b] = HEX[(int) (random & 15)];
      random >>>= 4;
    }
    return key;
  }

  /** A hundred ASCII bytes: twelve words of a pool, and four digits. */
  byte[] value(int subtask, long row) {
    byte[] value = new byte[100];
    long random = mix(seed + 13 + row * parallelism + subtask);
    for (int word = 0; word < 12; word++) {
      if (word == 6) {
        random = mix(random);
      }
      System.arraycopy(words[(int) (random & (WORDS - 1))], 0, value, word * 8, 8);
      random >>>= 10;
    }
    long digits = row;
    for (int b = 96; b < 100; b++) {
      value[b] = (byte) ('0' + digits % 10);
      digits /= 10;
    }
    return value;
  }

  /** A hash of a row, to be summed over a table. */
  static long hash(byte[] key, byte[] value) {
    long hash = 1469598103934665603L;
    for (byte b : key) {
      hash = (hash ^ b) * 1099511628211L;
    }
    for (byte b : value) {
      hash = (hash ^ b) * 1099511628211L;
    }
    return mix(hash);
  }
}
