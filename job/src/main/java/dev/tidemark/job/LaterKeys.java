package dev.tidemark.job;

import java.util.List;
import java.util.Optional;

/** Keys of the design that this version doesn't know yet: refused by name, never passed over. */
final class LaterKeys {
  private static final List<String> NAMES =
      List.of(
          "upsert.memory",
          "seal",
          "source.servers",
          "source.topics",
          "source.topic-pattern",
          "source.from",
          "source.until",
          "source.group");
  private static final List<String> PREFIXES = List.of("source.kafka.");

  private LaterKeys() {}

  /** What to say to such a key. */
  static Optional<String> refusal(String key) {
    boolean later = NAMES.contains(key) || PREFIXES.stream().anyMatch(key::startsWith);
    return later ? Optional.of("not supported by this version; leave it out") : Optional.empty();
  }
}
