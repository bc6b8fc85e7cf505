package dev.tidemark.read;

import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a shard at a time, exactly: of every batch that begins at or before that time the updates
 * at or before it, their times advanced to it, and equal rows summed by one streaming merge of all
 * runs. Thread-safe.
 */
public final class ShardReader {
  private final ShardLog log;

  /** Reads what {@code log} knows; it is refreshed at need. */
  public ShardReader(ShardLog log) {
    this.log = log;
  }

  /**
   * The collection at {@code asOf}: every row that is there then, with its multiplicity as diff and
   * {@code asOf} as time, in run order. Bounded memory: a few blocks a run.
   *
   * @param state the state to read
   * @throws ReadRefusedException when asOf is before since or not yet durable, naming both
   */
  public UpdateCursor snapshot(ShardState state, long asOfMillis) throws IOException {
    checkReadable(state, asOfMillis);
    return openSnapshot(state, state.schema(), asOfMillis);
  }

  /** As {@link #snapshot}, for whoever has checked that no batch was merged past {@code asOf}. */
  UpdateCursor openSnapshot(ShardState state, Schema wanted, long asOfMillis) throws IOException {
    List<UpdateCursor> runs = new ArrayList<>();
    try {
      for (Batch batch : readable(state, asOfMillis)) {
        for (List<Part> run : batch.runs()) {
          List<Part> parts = run.stream().filter(part -> part.minTime() <= asOfMillis).toList();
          if (!parts.isEmpty()) {
            long maxTime = parts.stream().mapToLong(Part::maxTime).max().orElseThrow();
            UpdateCursor rows = readRun(state, batch, parts, wanted);
            runs.add(TimeFilter.of(rows, batch, maxTime, asOfMillis));
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      closeAll(runs, e);
      throw e;
    }
    return new MergeCursor(runs, asOfMillis);
  }

  /**
   * The updates with times from {@code from} up to but not including {@code upto}, equal ones
   * summed, in run order; for whoever has checked that all of them are durable and that no batch
   * was merged with a since at or past {@code from}.
   */
  UpdateCursor openUpdates(ShardState state, Schema wanted, Frontier from, Frontier upto)
      throws IOException {
    List<UpdateCursor> runs = new ArrayList<>();
    try {
      for (Batch batch : overlapping(state, from, upto)) {
        for (List<Part> run : batch.runs()) {
          List<Part> parts =
              run.stream()
                  .filter(part -> part.minTime() < upto.time() && part.maxTime() >= from.time())
                  .toList();
          if (!parts.isEmpty()) {
            UpdateCursor rows = readRun(state, batch, parts, wanted);
            runs.add(TimeFilter.between(rows, batch, from.time(), upto.time() - 1));
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      closeAll(runs, e);
      throw e;
    }
    return new MergeCursor(runs, Long.MIN_VALUE);
  }

  /** The batches that may hold updates from {@code from} up to {@code upto}. */
  static List<Batch> overlapping(ShardState state, Frontier from, Frontier upto) {
    return state.batches().stream()
        .filter(
            batch -> batch.bounds().upper().isAfter(from) && batch.bounds().lower().isBefore(upto))
        .toList();
  }

  /** The error rows at {@code asOf} (reason, raw, origin, table), likewise. */
  public UpdateCursor errors(ShardState state, long asOfMillis) throws IOException {
    checkReadable(state, asOfMillis);
    List<UpdateCursor> runs = new ArrayList<>();
    PartStore parts = parts(state);
    try {
      for (Batch batch : readable(state, asOfMillis)) {
        for (Part part : batch.errors()) {
          if (part.minTime() <= asOfMillis) {
            UpdateCursor rows = parts.read(part, ErrorRows.SCHEMA, ErrorRows.SCHEMA);
            runs.add(TimeFilter.of(rows, batch, part.maxTime(), asOfMillis));
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      closeAll(runs, e);
      throw e;
    }
    return new MergeCursor(runs, asOfMillis);
  }

  /**
   * Checks that a state can be read at a time.
   *
   * @throws ReadRefusedException when it can't, naming both frontiers
   */
  public static void checkReadable(ShardState state, long asOfMillis) throws ReadRefusedException {
    Frontier asOf = Frontier.of(asOfMillis);
    boolean durable = state.upper().isAfter(asOf);
    if (durable && !asOf.isBefore(state.since())) {
      return;
    }
    throw new ReadRefusedException(
        "shard "
            + state.shard()
            + " can't be read as of "
            + Times.text(asOf)
            + ": "
            + (durable ? "its since is past that" : "that isn't durable yet")
            + "; since is "
            + Times.text(state.since())
            + ", upper is "
            + Times.text(state.upper())
            + (state.since().isBefore(state.upper())
                ? ": take a time from since up to but not including upper"
                    + (durable ? "" : ", or wait")
                : state.since().isEnd()
                    ? ": the shard is retired, nothing of it can be read any more"
                    : ": nothing of it can be read yet, wait"));
  }

  private static List<Batch> readable(ShardState state, long asOfMillis) {
    return state.batches().stream()
        .filter(batch -> batch.bounds().lower().time() <= asOfMillis)
        .toList();
  }

  private UpdateCursor readRun(ShardState state, Batch batch, List<Part> parts, Schema wanted)
      throws IOException {
    return parts(state).readRun(parts, state.schema(batch.schema()), wanted);
  }

  private static void closeAll(List<UpdateCursor> cursors, Exception failure) {
    for (UpdateCursor cursor : cursors) {
      try {
        cursor.close();
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** The parts of this shard, for reading. */
  public PartStore parts() {
    return parts(log.known());
  }

  private PartStore parts(ShardState state) {
    return new PartStore(
        log.store(),
        state.shard(),
        Long.MAX_VALUE,
        () -> {
          throw new IllegalStateException("a reader writes no parts");
        });
  }
}
