package dev.tidemark.sim;

import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rows of a simulated shard: what a writer has for each time, which depends on nothing else,
 * and the few things that are done with rows, in the plainest way.
 */
final class Rows {
  /** What a row counts, as no real rows are encoded. */
  static final long ROW_BYTES = 24;

  static final Comparator<Update> ORDER =
      Comparator.comparing(Update::row).thenComparingLong(Update::time);

  private Rows() {}

  /** What a writer has to say at a time. */
  static List<Update> of(String writer, long time) {
    Chance chance = Chance.of(time, writer);
    int count = chance.below(3);
    List<Update> updates = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String row = "row" + chance.below(4) + "-" + writer;
      updates.add(new Update(row, time, chance.happens(0.4) ? -1 : 1));
    }
    return updates;
  }

  /** What a writer has to say in an interval; times begin at 0. */
  static List<Update> of(String writer, BatchDescription bounds) {
    List<Update> updates = new ArrayList<>();
    long upper = bounds.upper().isEnd() ? bounds.lower().time() : bounds.upper().time();
    for (long time = Math.max(0, bounds.lower().time()); time < upper; time++) {
      updates.addAll(of(writer, time));
    }
    return updates;
  }

  /** What a writer could not make a row of, in an interval. */
  static List<Update> errorsOf(String writer, BatchDescription bounds) {
    List<Update> errors = new ArrayList<>();
    long upper = bounds.upper().isEnd() ? bounds.lower().time() : bounds.upper().time();
    for (long time = Math.max(0, bounds.lower().time()); time < upper; time++) {
      Chance chance = Chance.of(time, "errors of " + writer);
      if (chance.happens(0.2)) {
        errors.add(new Update("error" + chance.below(3) + "-" + writer, time, 1));
      }
    }
    return errors;
  }

  /** Whether it is one of these. */
  static boolean isError(Update update) {
    return update.row().startsWith("error");
  }

  /** Times advanced to {@code since}, equal rows at equal times summed up, zeros gone, in order. */
  static List<Update> consolidated(Collection<Update> updates, Frontier since) {
    SortedMap<Update, Long> sums = new TreeMap<>(ORDER);
    for (Update update : updates) {
      long time = Math.max(update.time(), since.time());
      sums.merge(new Update(update.row(), time, 0), update.diff(), Long::sum);
    }
    List<Update> out = new ArrayList<>(sums.size());
    sums.forEach(
        (update, sum) -> {
          if (sum != 0) {
            out.add(new Update(update.row(), update.time(), sum));
          }
        });
    return out;
  }

  /** How often each row is there at a time. */
  static SortedMap<String, Long> at(long asOf, Collection<Update> updates) {
    SortedMap<String, Long> counts = new TreeMap<>();
    add(counts, asOf, updates);
    return counts;
  }

  /** Adds what came up to a time to {@code counts}. */
  static void add(SortedMap<String, Long> counts, long asOf, Collection<Update> updates) {
    for (Update update : updates) {
      if (update.time() <= asOf && counts.merge(update.row(), update.diff(), Long::sum) == 0) {
        counts.remove(update.row());
      }
    }
  }

  /** The bytes of a part. */
  static byte[] encode(List<Update> updates) {
    StringBuilder lines = new StringBuilder();
    for (Update update : updates) {
      lines.append(update.row()).append(' ').append(update.time()).append(' ');
      lines.append(update.diff()).append('\n');
    }
    return lines.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The rows of a part. */
  static List<Update> decode(byte[] bytes) {
    List<Update> updates = new ArrayList<>();
    for (String line : new String(bytes, StandardCharsets.UTF_8).split("\n")) {
      String[] words = line.split(" ");
      updates.add(new Update(words[0], Long.parseLong(words[1]), Long.parseLong(words[2])));
    }
    return updates;
  }
}
