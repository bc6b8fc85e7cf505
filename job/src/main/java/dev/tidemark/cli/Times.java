package dev.tidemark.cli;

import dev.tidemark.time.Frontier;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.Locale;

/** Times as people write and read them. */
final class Times {
  /** Hours, minutes, seconds, and of the fraction what isn't zero. */
  static final DateTimeFormatter CLOCK =
      new DateTimeFormatterBuilder()
          .appendPattern("HH:mm:ss")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .toFormatter(Locale.ROOT);

  private static final DateTimeFormatter ISO =
      new DateTimeFormatterBuilder()
          .appendPattern("uuuu-MM-dd'T'")
          .append(CLOCK)
          .toFormatter(Locale.ROOT);

  private Times() {}

  /**
   * Milliseconds, or ISO-8601 with zone.
   *
   * @throws CommandException when it is neither
   */
  static long parse(String text) {
    try {
      return text.matches("-?\\d+")
          ? Long.parseLong(text)
          : OffsetDateTime.parse(text).toInstant().toEpochMilli();
    } catch (DateTimeException | NumberFormatException e) {
      throw new CommandException(
          Exit.USAGE,
          text
              + " is no time: write milliseconds, ISO-8601 with zone (2026-11-29T23:47:20Z), latest or earliest");
    }
  }

  /** A frontier: {@code min}, {@code end}, or its time with zone. */
  static String text(Frontier frontier) {
    return frontier.isMinimum() || frontier.isEnd() ? frontier.toString() : text(frontier.time());
  }

  /** Milliseconds as ISO-8601 with zone; what no calendar reaches, as a number. */
  static String text(long millis) {
    try {
      OffsetDateTime time = Instant.ofEpochMilli(millis).atOffset(ZoneOffset.UTC);
      return Math.abs(time.getYear()) > 9999 ? Long.toString(millis) : ISO.format(time) + "Z";
    } catch (DateTimeException e) {
      return Long.toString(millis);
    }
  }

  /** How far a frontier is behind the clock, for people. */
  static String lag(Frontier upper, Instant now) {
    if (upper.isMinimum()) {
      return "nothing yet";
    }
    if (upper.isEnd()) {
      return "ended";
    }
    return text(Duration.ofMillis(Math.max(0, now.toEpochMilli() - upper.time())));
  }

  /** A duration in its two largest units. */
  static String text(Duration duration) {
    long seconds = duration.toSeconds();
    if (seconds < 10) {
      return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
    }
    if (seconds < 120) {
      return seconds + " s";
    }
    if (seconds < 7200) {
      return seconds / 60 + " min " + seconds % 60 + " s";
    }
    long hours = seconds / 3600;
    return hours < 48
        ? hours + " h " + seconds % 3600 / 60 + " min"
        : hours / 24 + " d " + hours % 24 + " h";
  }
}
