package dev.tidemark.job;

import org.jspecify.annotations.Nullable;

/**
 * One key that a user can set.
 *
 * @param name the key
 * @param type how its text is read
 * @param standard the text that holds when it isn't set; null: none, or worked out
 * @param shown what the reference shows as the default
 * @param reason why that is the default
 * @param doc what it does
 */
record OptionKey<T>(
    String name,
    OptionType<T> type,
    @Nullable String standard,
    String shown,
    String reason,
    String doc) {

  /** A key with a default. */
  static <T> OptionKey<T> fixed(
      String name, OptionType<T> type, String standard, String reason, String doc) {
    return new OptionKey<>(name, type, standard, standard, reason, doc);
  }

  /** A key whose default is worked out from others, as {@code shown} says. */
  static <T> OptionKey<T> workedOut(
      String name, OptionType<T> type, String shown, String reason, String doc) {
    return new OptionKey<>(name, type, null, shown, reason, doc);
  }

  /** A key without a default. */
  static <T> OptionKey<T> none(String name, OptionType<T> type, String reason, String doc) {
    return new OptionKey<>(name, type, null, "", reason, doc);
  }
}
