package dev.tidemark.job;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How the text of an option is read.
 *
 * @param form what the user writes, for the reference and for messages: {@code 10 s}
 * @param reader turns the text into a value; throws IllegalArgumentException saying what is wrong
 */
record OptionType<T>(String form, Reader<T> reader) {
  /** Reads a text. */
  @FunctionalInterface
  interface Reader<T> {
    T read(String text);
  }

  static final OptionType<String> TEXT = new OptionType<>("text", text -> text);

  static final OptionType<List<String>> LIST =
      new OptionType<>(
          "text, several by comma",
          text ->
              Arrays.stream(text.split(","))
                  .map(String::strip)
                  .filter(item -> !item.isEmpty())
                  .toList());

  static final OptionType<Boolean> BOOLEAN =
      new OptionType<>(
          "true or false",
          text ->
              switch (text.toLowerCase(Locale.ROOT)) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new IllegalArgumentException("neither true nor false");
              });

  static final OptionType<Duration> DURATION =
      new OptionType<>("duration: 10 s", Amounts::duration);

  /** Empty: {@code off}. */
  static final OptionType<Optional<Duration>> DURATION_OR_OFF =
      new OptionType<>(
          "duration: 10 s, or off",
          text -> text.equals("off") ? Optional.empty() : Optional.of(Amounts.duration(text)));

  /** Empty: {@code forever}. */
  static final OptionType<Optional<Duration>> DURATION_OR_FOREVER =
      new OptionType<>(
          "duration: 1 h, or forever",
          text -> text.equals("forever") ? Optional.empty() : Optional.of(Amounts.duration(text)));

  static final OptionType<Long> SIZE = new OptionType<>("size: 64 KiB", Amounts::bytes);

  /** A whole number in a range. */
  static OptionType<Integer> wholeNumber(int least, int most) {
    return new OptionType<>(
        "whole number" + (least > Integer.MIN_VALUE ? ", at least " + least : ""),
        text -> Math.toIntExact(inRange(text, least, most)));
  }

  /** A whole number in a range of 64 bits. */
  static OptionType<Long> longNumber(long least) {
    return new OptionType<>(
        "whole number" + (least > Long.MIN_VALUE ? ", at least " + least : ""),
        text -> inRange(text, least, Long.MAX_VALUE));
  }

  /** A number in a range. */
  static OptionType<Double> number(double least, double most) {
    return new OptionType<>(
        "number from " + plain(least) + (most < Double.MAX_VALUE ? " to " + plain(most) : " on"),
        text -> {
          double value;
          try {
            value = Double.parseDouble(text);
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a number", e);
          }
          if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException("out of range");
          }
          return value;
        });
  }

  /** A size that one array can have. */
  static OptionType<Integer> smallSize(int most) {
    return new OptionType<>(
        "size: 64 KiB",
        text -> {
          long bytes = Amounts.bytes(text);
          if (bytes > most) {
            throw new IllegalArgumentException("more than " + most + " bytes");
          }
          return Math.toIntExact(bytes);
        });
  }

  /** Zero stands for {@code auto}. */
  static OptionType<Integer> numberOrAuto(int most) {
    return new OptionType<>(
        "whole number, or auto",
        text -> text.equals("auto") ? 0 : Math.toIntExact(inRange(text, 1, most)));
  }

  /**
   * One of a few words; {@code later} are words of the design that this version refuses by name.
   */
  static <T> OptionType<T> choice(Map<String, T> now, List<String> later) {
    Map<String, T> words = new LinkedHashMap<>(now);
    String known = String.join(", ", words.keySet());
    return new OptionType<>(
        words.keySet().stream().collect(Collectors.joining(" | ")),
        text -> {
          @Nullable T value = words.get(text);
          if (value != null) {
            return value;
          }
          if (later.contains(text)) {
            throw new IllegalArgumentException("not supported by this version");
          }
          throw new IllegalArgumentException("not one of " + known);
        });
  }

  /** One word. */
  static <T> Map<String, T> table(String word, T value) {
    Map<String, T> table = new LinkedHashMap<>();
    table.put(word, value);
    return table;
  }

  /** Two words, in this order. */
  static <T> Map<String, T> table(String word1, T value1, String word2, T value2) {
    Map<String, T> table = table(word1, value1);
    table.put(word2, value2);
    return table;
  }

  /** Three words, in this order. */
  static <T> Map<String, T> table(
      String word1, T value1, String word2, T value2, String word3, T value3) {
    Map<String, T> table = table(word1, value1, word2, value2);
    table.put(word3, value3);
    return table;
  }

  /** The words of an enum, lower case with hyphens. */
  static <E extends Enum<E>> OptionType<E> words(Class<E> type) {
    Map<String, E> words = new LinkedHashMap<>();
    for (E constant : type.getEnumConstants()) {
      words.put(constant.name().toLowerCase(Locale.ROOT).replace('_', '-'), constant);
    }
    return choice(words, List.of());
  }

  private static long inRange(String text, long least, long most) {
    long value;
    try {
      value = Long.parseLong(text.replace("_", ""));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a whole number", e);
    }
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          most == Long.MAX_VALUE || most == Integer.MAX_VALUE
              ? "less than " + least
              : "not from " + least + " to " + most);
    }
    return value;
  }

  private static String plain(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
