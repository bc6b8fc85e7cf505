package dev.tidemark.cli;

import dev.tidemark.job.OptionException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The words of the command line, parted: what the command's own parser reads, and the {@code --key
 * value} pairs that are options of the job or the store.
 *
 * @param words for the parser
 * @param options key, without hyphens, to text
 */
record Arguments(List<String> words, Map<String, String> options) {
  private static final String RUN = "run";
  private static final String STORE = "--s3.";

  /** What {@code run} reads itself; all else that begins with two hyphens is an option. */
  private static final Set<String> RUN_WORDS =
      Set.of("--conf", "--check", "--target", "--wait", "--json", "--debug", "--help", "--version");

  /** Options that are true when they stand alone. */
  private static final Set<String> SWITCHES = Set.of("--settle");

  /** Parts the words of a command line. */
  static Arguments of(List<String> all) {
    boolean run =
        all.stream()
            .filter(word -> !word.startsWith("-"))
            .findFirst()
            .filter(RUN::equals)
            .isPresent();
    List<String> words = new ArrayList<>();
    Map<String, String> options = new LinkedHashMap<>();
    for (int i = 0; i < all.size(); i++) {
      String word = all.get(i);
      int equals = word.indexOf('=');
      String name = equals < 0 ? word : word.substring(0, equals);
      boolean option =
          word.startsWith(STORE)
              || (run && word.startsWith("--") && word.length() > 2 && !RUN_WORDS.contains(name));
      if (!option) {
        words.add(word);
      } else if (equals >= 0) {
        options.put(name.substring(2), word.substring(equals + 1));
      } else if (SWITCHES.contains(name)
          && (i + 1 == all.size() || !all.get(i + 1).matches("(?i)true|false"))) {
        options.put(name.substring(2), "true");
      } else if (i + 1 < all.size() && !all.get(i + 1).startsWith("--")) {
        options.put(name.substring(2), all.get(++i));
      } else {
        throw new OptionException(name + " has no value; write " + name + " VALUE");
      }
    }
    return new Arguments(List.copyOf(words), options);
  }
}
