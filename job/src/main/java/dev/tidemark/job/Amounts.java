package dev.tidemark.job;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations and sizes as people write them: always with a unit. */
public final class Amounts {
  private static final Pattern AMOUNT = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([A-Za-z]*)");

  private static final Map<String, Long> NANOS =
      Map.ofEntries(
          Map.entry("ms", 1_000_000L),
          Map.entry("s", 1_000_000_000L),
          Map.entry("sec", 1_000_000_000L),
          Map.entry("m", 60_000_000_000L),
          Map.entry("min", 60_000_000_000L),
          Map.entry("h", 3_600_000_000_000L),
          Map.entry("hour", 3_600_000_000_000L),
          Map.entry("hours", 3_600_000_000_000L),
          Map.entry("d", 86_400_000_000_000L),
          Map.entry("day", 86_400_000_000_000L),
          Map.entry("days", 86_400_000_000_000L));

  private static final Map<String, Long> BYTES =
      Map.of(
          "B", 1L, "bytes", 1L, "KiB", 1L << 10, "MiB", 1L << 20, "GiB", 1L << 30, "TiB", 1L << 40);

  private Amounts() {}

  /**
   * A duration: {@code 500 ms}, {@code 10 s}, {@code 5 min}, {@code 1 h}, {@code 7 days}.
   *
   * @throws IllegalArgumentException saying what is missing
   */
  public static Duration duration(String text) {
    return Duration.ofNanos(amount(text, NANOS, "ms, s, min, h or days"));
  }

  /**
   * A size: {@code 100 B}, {@code 64 KiB}, {@code 1 MiB}, {@code 2 GiB}.
   *
   * @throws IllegalArgumentException saying what is missing
   */
  public static long bytes(String text) {
    return amount(text, BYTES, "B, KiB, MiB or GiB");
  }

  /** So many of a thing whose plural ends in s or es: {@code 1 batch}, {@code 2,000 batches}. */
  public static String count(long count, String thing) {
    String ending = count == 1 ? "" : thing.endsWith("ch") ? "es" : "s";
    return String.format(Locale.ROOT, "%,d %s%s", count, thing, ending);
  }

  /** A duration in the largest unit that leaves it whole. */
  public static String text(Duration duration) {
    long millis = duration.toMillis();
    if (millis == 0) {
      return "0 s";
    }
    if (millis % 86_400_000 == 0) {
      return millis / 86_400_000 + " days";
    }
    if (millis % 3_600_000 == 0) {
      return millis / 3_600_000 + " h";
    }
    if (millis % 60_000 == 0) {
      return millis / 60_000 + " min";
    }
    return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
  }

  /** A size for people, in binary units, at most one digit behind the point. */
  public static String text(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0 || value >= 100 || value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f %s", value, units[unit])
        : String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }

  private static long amount(String text, Map<String, Long> units, String known) {
    Matcher matcher = AMOUNT.matcher(text.strip());
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a number with a unit (" + known + ")");
    }
    if (matcher.group(2).isEmpty()) {
      if (matcher.group(1).matches("0+")) {
        return 0; // of whatever
      }
      throw new IllegalArgumentException("the unit is missing (" + known + ")");
    }
    Long factor = units.get(matcher.group(2));
    if (factor == null) {
      throw new IllegalArgumentException("the unit " + matcher.group(2) + " is none of " + known);
    }
    try {
      return new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(factor)).longValueExact();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("too large, or not a whole number of the least unit", e);
    }
  }
}
