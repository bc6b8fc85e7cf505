package dev.tidemark.part;

import dev.tidemark.spine.Part;
import org.jspecify.annotations.Nullable;

/**
 * A range of encoded rows, by their bytes: all that is at or after {@code from} and before {@code
 * to}. Equal rows are in the same range, whatever their times.
 *
 * @param from the least, lower-case hex; null: no bound
 * @param to what all are before, lower-case hex; null: no bound
 */
public record KeyRange(@Nullable String from, @Nullable String to) {
  /** All rows. */
  public static final KeyRange ALL = new KeyRange(null, null);

  /** Checks that the bounds are of this form and in order. */
  public KeyRange {
    check(from);
    check(to);
    if (from != null && to != null && from.compareTo(to) >= 0) {
      throw new IllegalArgumentException("a key range from " + from + " to " + to + " is empty");
    }
  }

  private static void check(@Nullable String bound) {
    if (bound != null && (bound.length() % 2 != 0 || !bound.chars().allMatch(KeyRange::isHex))) {
      throw new IllegalArgumentException("a bound of a key range is no lower-case hex: " + bound);
    }
  }

  private static boolean isHex(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  }

  boolean isAll() {
    return from == null && to == null;
  }

  /** Whether a part with these bounds may have rows in the range. */
  boolean mayHold(Part part, boolean longer) {
    return !isAfter(part.minKey()) && !isBefore(part.maxKey(), longer);
  }

  /** Whether rows that are at or after {@code least} are all behind the range. */
  boolean isAfter(@Nullable String least) {
    return to != null && least != null && least.compareTo(to) >= 0;
  }

  /**
   * Whether rows that are at or before {@code most} are all before the range.
   *
   * @param longer whether they may have got columns at their end since
   */
  boolean isBefore(@Nullable String most, boolean longer) {
    return from != null
        && most != null
        && most.compareTo(from) < 0
        && !(longer && from.startsWith(most));
  }
}
