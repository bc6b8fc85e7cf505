package dev.tidemark.part;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/**
 * Keys of parts: the day in UTC, by which garbage is collected, and a ULID (48 bits of the clock's
 * milliseconds, 80 random bits, in Crockford's base 32). Thread-safe.
 */
public final class PartKeys implements PartStore.KeySource {
  private static final String DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ISO_LOCAL_DATE.withZone(ZoneOffset.UTC);

  private final Clock clock;
  private final SecureRandom random;

  /** With the clock that names days and the source of what no one else has. */
  public PartKeys(Clock clock, SecureRandom random) {
    this.clock = clock;
    this.random = random;
  }

  @Override
  public String next() {
    Instant now = clock.instant();
    return "part/" + DAY.format(now) + '/' + ulid(now.toEpochMilli()) + ".parquet";
  }

  /** An id that nothing else has, a ULID of this moment: for shards, batches and attempts. */
  public String id() {
    return ulid(clock.millis());
  }

  private String ulid(long millis) {
    StringBuilder text = new StringBuilder(26);
    for (int shift = 45; shift >= 0; shift -= 5) {
      text.append(DIGITS.charAt((int) (millis >>> shift) & 31));
    }
    byte[] bytes = new byte[16];
    random.nextBytes(bytes);
    for (byte b : bytes) {
      text.append(DIGITS.charAt(b & 31));
    }
    return text.toString();
  }
}
