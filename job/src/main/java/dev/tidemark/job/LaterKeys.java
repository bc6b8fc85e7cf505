package dev.tidemark.job;

import java.util.List;
import java.util.Optional;

/** Keys of the design that this version doesn't know yet: refused by name, never passed over. */
final class LaterKeys {
  private static final List<String> NAMES = List.of("upsert.memory");

  private LaterKeys() {}

  /** What to say to such a key. */
  static Optional<String> refusal(String key) {
    return NAMES.contains(key)
        ? Optional.of("not supported by this version; leave it out")
        : Optional.empty();
  }
}
