package dev.tidemark.log;

import dev.tidemark.shard.Fact;

/**
 * Log entries, rollups and facts as JSON: the exact form is docs/format.md's. Canonical: equal
 * values give equal bytes.
 */
public final class LogCodec {
  private LogCodec() {}

  /** An entry's bytes. */
  public static byte[] encode(LogEntry entry) {
    throw new UnsupportedOperationException();
  }

  /**
   * An entry from bytes.
   *
   * @param origin the key it came from, for messages
   * @throws LogFormatException when it can't be read, naming the key and the place; of a newer
   *     major format, naming both
   */
  public static LogEntry decode(byte[] bytes, String origin) throws LogFormatException {
    throw new UnsupportedOperationException();
  }

  /** A fact alone: {@code {"batch":{...}}}. */
  public static byte[] encodeFact(Fact fact) {
    throw new UnsupportedOperationException();
  }

  /** A fact from bytes. */
  public static Fact decodeFact(byte[] bytes, String origin) throws LogFormatException {
    throw new UnsupportedOperationException();
  }
}
