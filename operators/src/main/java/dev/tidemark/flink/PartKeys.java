package dev.tidemark.flink;

import dev.tidemark.part.PartStore;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.LocalDate;
import java.time.ZoneOffset;

/**
 * Names that nobody else has: ULIDs (48 bits of milliseconds, 80 random bits, in Crockford's base
 * 32, so that they sort by time), for parts with the day before them.
 */
final class PartKeys implements PartStore.KeySource {
  private static final char[] DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ".toCharArray();
  private static final SecureRandom RANDOM = new SecureRandom();

  private final Clock clock;

  PartKeys(Clock clock) {
    this.clock = clock;
  }

  @Override
  public String next() {
    long now = clock.millis();
    LocalDate day = LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
    return "part/" + day + "/" + ulid(now) + ".parquet";
  }

  /** A new ULID of a moment. */
  static String ulid(long millis) {
    char[] text = new char[26];
    for (int i = 9; i >= 0; i--) {
      text[i] = DIGITS[(int) (millis & 31)];
      millis >>>= 5;
    }
    byte[] random = new byte[16];
    RANDOM.nextBytes(random);
    for (int i = 0; i < random.length; i++) {
      text[10 + i] = DIGITS[random[i] & 31];
    }
    return new String(text);
  }
}
