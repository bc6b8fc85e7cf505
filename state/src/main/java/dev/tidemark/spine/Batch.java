package dev.tidemark.spine;

import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The updates of one interval: a fact of the shard.
 *
 * @param id unique within the shard
 * @param bounds the interval it covers
 * @param since the since its times were advanced to, {@link Frontier#MINIMUM} when fresh
 * @param level its level in the spine
 * @param runs its runs, each of one or more parts in order that do not overlap
 * @param errors the parts that hold its error rows
 * @param rows the number of updates
 * @param bytes their row bytes
 * @param retracted the row bytes of those whose diff is negative
 * @param sum the sum of their diffs, empty when unknown (a cut batch)
 * @param maxTime the greatest time of its rows, {@code Long.MIN_VALUE} without rows
 * @param cut whether a part holds rows outside the bounds, which readers and merges drop
 * @param schema the id of the schema that its parts were written with
 * @param extra keys of a later format, name to raw JSON, kept as they are
 */
public record Batch(
    String id,
    BatchDescription bounds,
    Frontier since,
    int level,
    List<List<Part>> runs,
    List<Part> errors,
    long rows,
    long bytes,
    long retracted,
    OptionalLong sum,
    long maxTime,
    boolean cut,
    int schema,
    Map<String, String> extra) {
  /** Copies the lists. */
  public Batch {
    runs = runs.stream().map(List::copyOf).toList();
    errors = List.copyOf(errors);
    extra = Map.copyOf(extra);
  }

  /**
   * A batch that isn't cut, whose figures are those of its runs.
   *
   * @param schema the id of the schema that its parts were written with
   */
  public static Batch of(
      String id,
      BatchDescription bounds,
      Frontier since,
      int level,
      List<List<Part>> runs,
      List<Part> errors,
      int schema) {
    long rows = 0;
    long bytes = 0;
    long retracted = 0;
    long sum = 0;
    long maxTime = Long.MIN_VALUE;
    for (List<Part> run : runs) {
      for (Part part : run) {
        rows += part.rows();
        bytes += part.bytes();
        retracted += part.retracted();
        sum += part.sum();
        maxTime = Math.max(maxTime, part.maxTime());
      }
    }
    return new Batch(
        id,
        bounds,
        since,
        level,
        runs,
        errors,
        rows,
        bytes,
        retracted,
        OptionalLong.of(sum),
        maxTime,
        false,
        schema,
        Map.of());
  }

  /** The number of runs, its weight in its level. */
  public int runCount() {
    return runs.size();
  }

  /** The same batch at another level. */
  public Batch atLevel(int other) {
    return new Batch(
        id, bounds, since, other, runs, errors, rows, bytes, retracted, sum, maxTime, cut, schema,
        extra);
  }

  /** The same batch with other bounds. */
  public Batch withBounds(BatchDescription other) {
    return new Batch(
        id, other, since, level, runs, errors, rows, bytes, retracted, sum, maxTime, cut, schema,
        extra);
  }
}
