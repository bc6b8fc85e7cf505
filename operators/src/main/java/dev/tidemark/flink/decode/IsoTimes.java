package dev.tidemark.flink.decode;

import dev.tidemark.row.InvalidRowException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;

/**
 * ISO-8601 texts: {@code 2026-11-29T23:47:20.760746}, a blank instead of the T too. A text without
 * zone is never given one, and one with a zone never loses it, whatever zone the JVM is in.
 */
final class IsoTimes {
  private static final DateTimeFormatter WITH_OFFSET =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendLiteral('T')
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .parseLenient()
          .appendOffset("+HH:mm", "Z")
          .toFormatter();

  private IsoTimes() {}

  static LocalDate date(String text) throws InvalidRowException {
    try {
      return LocalDate.parse(text);
    } catch (DateTimeException e) {
      throw new InvalidRowException("not a date like 2026-11-29");
    }
  }

  static LocalTime time(String text) throws InvalidRowException {
    try {
      return LocalTime.parse(text);
    } catch (DateTimeException e) {
      throw new InvalidRowException("not a time like 23:47:20.760");
    }
  }

  static LocalDateTime timestamp(String text) throws InvalidRowException {
    try {
      return LocalDateTime.parse(withT(text));
    } catch (DateTimeException e) {
      throw new InvalidRowException("not a time without zone like 2026-11-29T23:47:20.760746");
    }
  }

  static Instant instant(String text) throws InvalidRowException {
    try {
      return OffsetDateTime.parse(withT(text), WITH_OFFSET).toInstant();
    } catch (DateTimeException e) {
      throw new InvalidRowException("not a time with zone like 2026-11-29T23:47:20.760746Z");
    }
  }

  /** Debezium's isostring mode marks what has no zone with a Z. */
  static String withoutZ(String text) {
    return text.endsWith("Z") ? text.substring(0, text.length() - 1) : text;
  }

  private static String withT(String text) {
    int blank = text.indexOf(' ');
    return blank < 0 ? text : text.substring(0, blank) + 'T' + text.substring(blank + 1);
  }
}
