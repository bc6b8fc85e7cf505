package dev.tidemark.part;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PartKeysTest {
  @Test
  void namesDayAndUlid() {
    Instant now = Instant.parse("2026-11-30T23:59:59.999Z");
    PartKeys keys = new PartKeys(Clock.fixed(now, ZoneOffset.ofHours(5)), new SecureRandom());
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      String key = keys.next();
      assertThat(key).matches("part/2026-11-30/01[0-9A-HJKMNP-TV-Z]{24}\\.parquet");
      assertThat(seen.add(key)).isTrue();
    }
    PartKeys later =
        new PartKeys(Clock.fixed(now.plusMillis(1), ZoneOffset.UTC), new SecureRandom());
    assertThat(later.next()).startsWith("part/2026-12-01/").matches(".*/0[1-7][^/]*");
    String ulid = keys.next().substring(16, 26);
    assertThat(later.next().substring(16, 26)).isGreaterThan(ulid);
  }
}
