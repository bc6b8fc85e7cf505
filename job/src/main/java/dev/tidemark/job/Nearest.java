package dev.tidemark.job;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the word that somebody who mistyped probably meant. */
public final class Nearest {
  private Nearest() {}

  /** The known word with the fewest changes, if they are few for its length. */
  public static Optional<String> of(String typed, Collection<String> known) {
    Optional<String> best =
        known.stream()
            .min(
                Comparator.comparingInt((String word) -> distance(typed, word))
                    .thenComparing(word -> word));
    return best.filter(word -> distance(typed, word) <= Math.max(2, typed.length() / 2));
  }

  private static int distance(String a, String b) {
    int[] last = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int change = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(change, Math.min(last[j], row[j - 1]) + 1);
      }
      last = row;
    }
    return last[b.length()];
  }
}
