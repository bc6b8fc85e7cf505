package dev.tidemark.testing;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation.Stored;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Batches made up by a few figures, with parts that add up to them. */
public final class Batches {
  private static final String DAY = "2026-11-30";

  private Batches() {}

  /** A fresh batch of {@code [lower, upper)} with so many runs of one row each of 100 bytes. */
  public static Batch fresh(String id, long lower, long upper, int runs) {
    return fresh(id, Frontier.of(lower), Frontier.of(upper), runs, 100L * runs, 0);
  }

  /**
   * A fresh batch: {@code bytes} over its runs, ten bytes a row; its rows lie at its last time.
   *
   * @param retracted how many of the bytes are of retractions
   */
  public static Batch fresh(
      String id, Frontier lower, Frontier upper, int runs, long bytes, long retracted) {
    BatchDescription bounds = new BatchDescription(lower, upper);
    long time = upper.time() - 1;
    List<List<Part>> parts = new ArrayList<>();
    for (int run = 0; run < runs; run++) {
      long share = bytes * (run + 1) / runs - bytes * run / runs;
      long gone = retracted * (run + 1) / runs - retracted * run / runs;
      parts.add(List.of(part(id + "-" + run, share, gone, time)));
    }
    return of(id, bounds, Frontier.MINIMUM, 0, parts);
  }

  /** An empty batch. */
  public static Batch empty(String id, Frontier lower, Frontier upper) {
    return of(id, new BatchDescription(lower, upper), Frontier.MINIMUM, 0, List.of());
  }

  /** A batch whose figures are those of its runs. */
  public static Batch of(
      String id, BatchDescription bounds, Frontier since, int level, List<List<Part>> runs) {
    return Batch.of(id, bounds, since, level, runs, List.of(), 1);
  }

  /** A stored part of so many bytes, ten a row, all rows at one time. */
  public static Part part(String name, long bytes, long retracted, long time) {
    long rows = Math.max(1, bytes / 10);
    return part(name, rows, bytes, rows - 2 * (retracted / 10), retracted, time);
  }

  /** A stored part by all its figures, all rows at one time. */
  public static Part part(String name, long rows, long bytes, long sum, long retracted, long time) {
    Stored location = new Stored("part/" + DAY + "/" + name + ".parquet", bytes, "00000000");
    return new Part(location, rows, bytes, sum, retracted, null, null, time, time, Map.of());
  }

  /** The same batch with error parts. */
  public static Batch withErrors(Batch batch, Part... errors) {
    return new Batch(
        batch.id(),
        batch.bounds(),
        batch.since(),
        batch.level(),
        batch.runs(),
        List.of(errors),
        batch.rows(),
        batch.bytes(),
        batch.retracted(),
        batch.sum(),
        batch.maxTime(),
        batch.cut(),
        batch.schema(),
        batch.extra());
  }

  /** The same batch, cut to other bounds. */
  public static Batch cut(Batch batch, Frontier lower, Frontier upper) {
    return new Batch(
        batch.id(),
        new BatchDescription(lower, upper),
        batch.since(),
        batch.level(),
        batch.runs(),
        batch.errors(),
        batch.rows(),
        batch.bytes(),
        batch.retracted(),
        OptionalLong.empty(),
        batch.maxTime(),
        true,
        batch.schema(),
        batch.extra());
  }
}
