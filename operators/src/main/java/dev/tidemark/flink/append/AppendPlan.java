package dev.tidemark.flink.append;

import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one append brings to a shard: consecutive intervals from the shard's upper on, each with the
 * written batches that become one batch. Pure.
 *
 * @param upto where it ends
 * @param groups the intervals, oldest first; the last ends at {@code upto}
 * @param done the written batches that an earlier append has brought already
 * @param displaced how many written batches are cut or left out for what another writer has
 *     appended
 */
record AppendPlan(Frontier upto, List<Group> groups, List<WrittenBatch> done, int displaced) {
  /**
   * The shard as it is.
   *
   * @param upper its upper
   * @param upto what this writer has appended up to
   * @param freshRuns the most runs of a batch
   */
  record Place(Frontier upper, Frontier upto, int freshRuns) {}

  /** An interval and its batches, none when no slot had rows. */
  record Group(BatchDescription bounds, List<WrittenBatch> batches) {}

  /** A shard's log has what this job didn't put there. */
  static final class ForeignWriteException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String what;

    ForeignWriteException(Frontier shardUpper, Frontier lower) {
      this.what =
          "the shard's upper is "
              + shardUpper
              + " and this job has rows from "
              + lower
              + " on that it hasn't committed";
    }

    /** What doesn't fit, for people. */
    String what() {
      return what;
    }

    @Override
    public String getMessage() {
      return what;
    }
  }

  /**
   * Plans an append.
   *
   * @param cuts whether batches are cut to what the shard's upper leaves of them; those of which it
   *     leaves nothing are done
   */
  static AppendPlan of(Place place, Due due, boolean cuts) throws ForeignWriteException {
    Frontier end = due.end();
    Frontier there = cuts ? place.upper().max(place.upto()) : place.upto();
    Frontier ours = place.upto().max(due.start());
    List<WrittenBatch> finished = new ArrayList<>();
    Map<Frontier, List<WrittenBatch>> byUpper = new TreeMap<>();
    int displaced = 0;
    for (WrittenBatch batch : due.batches()) {
      Frontier upper = batch.bounds().upper().min(end);
      if (upper.isAfter(there)) {
        byUpper.computeIfAbsent(upper, missing -> new ArrayList<>()).add(batch);
      } else {
        finished.add(batch);
      }
      if (ours.isBefore(place.upper())
          && upper.isAfter(ours)
          && batch.bounds().lower().isBefore(place.upper())) {
        displaced++;
      }
    }
    Frontier shardUpper = place.upper();
    Frontier upto = due.promise().frontier().min(end).max(shardUpper);
    List<Group> groups = new ArrayList<>();
    Frontier lower = shardUpper;
    for (Map.Entry<Frontier, List<WrittenBatch>> next : byUpper.entrySet()) {
      Frontier least = next.getValue().get(0).bounds().lower().max(due.start());
      if (least.isBefore(lower) && !cuts) {
        throw new ForeignWriteException(shardUpper, least);
      }
      next.getValue().sort(Comparator.comparingInt(WrittenBatch::slot));
      groups.add(new Group(new BatchDescription(lower, next.getKey()), next.getValue()));
      lower = next.getKey();
    }
    List<Group> fused = extend(fuse(groups, place.freshRuns()), shardUpper, upto);
    return new AppendPlan(upto, fused, finished, displaced);
  }

  /** Neighbours whose runs together stay within what a fresh batch may have become one. */
  private static List<Group> fuse(List<Group> groups, int freshRuns) {
    List<Group> fused = new ArrayList<>();
    for (Group group : groups) {
      Group last = fused.isEmpty() ? null : fused.get(fused.size() - 1);
      if (last == null) {
        fused.add(group);
        continue;
      }
      List<WrittenBatch> both = new ArrayList<>(last.batches());
      both.addAll(group.batches());
      if (runs(both) <= freshRuns) {
        BatchDescription bounds =
            new BatchDescription(last.bounds().lower(), group.bounds().upper());
        fused.set(fused.size() - 1, new Group(bounds, both));
      } else {
        fused.add(group);
      }
    }
    return fused;
  }

  /** The runs that written batches become: each uploaded one, and all inline ones together. */
  static int runs(List<WrittenBatch> batches) {
    int uploaded = 0;
    boolean inline = false;
    for (WrittenBatch batch : batches) {
      uploaded += batch.batch().runCount();
      inline |= batch.rowBlock().length > 0;
    }
    return uploaded + (inline ? 1 : 0);
  }

  /** What written batches count in their level: those of error rows alone count one. */
  static int weight(List<WrittenBatch> batches) {
    int runs = runs(batches);
    boolean errors =
        batches.stream()
            .anyMatch(batch -> batch.errorBlock().length > 0 || !batch.batch().errors().isEmpty());
    return runs == 0 && errors ? 1 : runs;
  }

  private static List<Group> extend(List<Group> groups, Frontier lower, Frontier upto) {
    if (!groups.isEmpty()) {
      Group last = groups.get(groups.size() - 1);
      BatchDescription bounds = new BatchDescription(last.bounds().lower(), upto);
      groups.set(groups.size() - 1, new Group(bounds, last.batches()));
    } else if (lower.isBefore(upto)) {
      groups.add(new Group(new BatchDescription(lower, upto), List.of()));
    }
    return List.copyOf(groups);
  }
}
