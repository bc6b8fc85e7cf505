package dev.tidemark.read;

import dev.tidemark.time.Frontier;
import java.time.DateTimeException;
import java.time.Instant;

/** Times as messages show them. */
final class Times {
  private Times() {}

  /** The milliseconds and, where there is one, the date; or the name of an end. */
  static String text(Frontier frontier) {
    if (frontier.isMinimum() || frontier.isEnd()) {
      return frontier.toString();
    }
    try {
      return frontier + " (" + Instant.ofEpochMilli(frontier.time()) + ")";
    } catch (DateTimeException e) {
      return frontier.toString();
    }
  }
}
