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
 */
record AppendPlan(Frontier upto, List<Group> groups, List<WrittenBatch> done) {
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
   * @param shardUpper the shard's upper
   * @param done what this writer has appended up to
   * @param due the written batches that a completed checkpoint covers
   * @param start the shard's upper when a job that began without state first met it: what this job
   *     writes lies above, whatever its descriptions say; else the minimum
   * @param promise how far the append may go
   * @param freshRuns the most runs of a batch
   */
  static AppendPlan of(
      Frontier shardUpper,
      Frontier done,
      Frontier start,
      List<WrittenBatch> due,
      Promise promise,
      int freshRuns)
      throws ForeignWriteException {
    Frontier end = end(due, promise);
    List<WrittenBatch> finished = new ArrayList<>();
    Map<Frontier, List<WrittenBatch>> byUpper = new TreeMap<>();
    for (WrittenBatch batch : due) {
      Frontier upper = batch.bounds().upper().min(end);
      if (upper.isAfter(done)) {
        byUpper.computeIfAbsent(upper, missing -> new ArrayList<>()).add(batch);
      } else {
        finished.add(batch);
      }
    }
    Frontier upto = promise.frontier().min(end).max(shardUpper);
    List<Group> groups = new ArrayList<>();
    Frontier lower = shardUpper;
    for (Map.Entry<Frontier, List<WrittenBatch>> next : byUpper.entrySet()) {
      Frontier least = next.getValue().get(0).bounds().lower().max(start);
      if (least.isBefore(lower)) {
        throw new ForeignWriteException(shardUpper, least);
      }
      next.getValue().sort(Comparator.comparingInt(WrittenBatch::slot));
      groups.add(new Group(new BatchDescription(lower, next.getKey()), next.getValue()));
      lower = next.getKey();
    }
    return new AppendPlan(upto, extend(fuse(groups, freshRuns), shardUpper, upto), finished);
  }

  /** Where the end of input lies: behind every row, and behind all that was promised before. */
  private static Frontier end(List<WrittenBatch> due, Promise promise) {
    if (!promise.frontier().isEnd()) {
      return promise.frontier();
    }
    Frontier end = promise.lastFinite();
    for (WrittenBatch batch : due) {
      long last = batch.batch().maxTime();
      // Error rows without a time of their own stand just behind the minimum: nowhere to read at.
      end = end.max(Frontier.of(last <= Long.MIN_VALUE + 1 ? 0 : last + 1));
    }
    return end;
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
