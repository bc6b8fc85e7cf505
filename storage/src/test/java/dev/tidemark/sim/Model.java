package dev.tidemark.sim;

import dev.tidemark.spine.Batch;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the shard should hold: the rows of all appends in true history, as a plain list by time. */
final class Model {
  private final NavigableMap<Long, List<Update>> updates = new TreeMap<>();

  /** Whose interval begins at a time. */
  private final NavigableMap<Frontier, String> owners = new TreeMap<>();

  /** A writer's rows are in the shard for this interval. */
  void append(String writer, BatchDescription bounds) {
    owners.put(bounds.lower(), writer);
    for (Update update : Rows.of(writer, bounds)) {
      updates.computeIfAbsent(update.time(), time -> new ArrayList<>()).add(update);
    }
  }

  /** Whether all of the interval was written by this writer. */
  boolean isOf(String writer, BatchDescription bounds) {
    Frontier first = owners.floorKey(bounds.lower());
    Collection<String> whose =
        owners.subMap(first == null ? bounds.lower() : first, true, bounds.upper(), false).values();
    return !whose.isEmpty() && whose.stream().allMatch(writer::equals);
  }

  /** The rows of an interval. */
  List<Update> within(Frontier lower, Frontier upper) {
    List<Update> found = new ArrayList<>();
    updates.subMap(lower.time(), true, upper.time(), false).values().forEach(found::addAll);
    return found;
  }

  /** How often each row is there at a time. */
  SortedMap<String, Long> at(long asOf) {
    SortedMap<String, Long> counts = new TreeMap<>();
    updates.headMap(asOf, true).values().forEach(at -> Rows.add(counts, asOf, at));
    return counts;
  }

  /** Throws unless a batch holds exactly the rows of its interval, or none of a retired shard. */
  void check(Batch batch, List<Update> stored) {
    List<Update> right =
        batch.since().isEnd()
            ? List.of()
            : Rows.consolidated(
                within(batch.bounds().lower(), batch.bounds().upper()), batch.since());
    List<Update> there = Rows.consolidated(stored, Frontier.MINIMUM);
    if (!right.equals(there)) {
      throw new ViolationError(
          "I1",
          "batch "
              + batch.id()
              + " "
              + batch.bounds()
              + " of since "
              + batch.since()
              + " should hold "
              + right
              + ", it holds "
              + there);
    }
  }
}
