package dev.tidemark.merge;

import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Merges neighbouring batches of a shard into one of one run, or a chunk of that. Changes nothing
 * in the log: what it writes is an orphan until somebody installs it.
 */
public final class RunMerger {
  /** The default of merge.memory. */
  public static final long DEFAULT_MEMORY_BYTES = 256L << 20;

  /** More at a time makes nothing faster. */
  private static final long MOST_FETCH_BYTES = 8L << 20;

  private final PartStore parts;
  private final long memoryBytes;
  private final UnaryOperator<UpdateCursor> looksOn;

  /**
   * Reads and writes these parts.
   *
   * @param memoryBytes what two merges at the same time may hold of their inputs (merge.memory);
   *     each has one part of its output beside that
   */
  public RunMerger(PartStore parts, long memoryBytes) {
    this(parts, memoryBytes, UnaryOperator.identity());
  }

  /**
   * Reads and writes these parts.
   *
   * @param memoryBytes as above
   * @param looksOn put between the merged updates and what is written of them
   */
  RunMerger(PartStore parts, long memoryBytes, UnaryOperator<UpdateCursor> looksOn) {
    this.parts = parts;
    this.memoryBytes = memoryBytes;
    this.looksOn = looksOn;
  }

  /**
   * What of a merge is to be done.
   *
   * @param range the rows
   * @param schema the id of the schema that they are written in
   * @param errors whether the error rows are merged too: by one of the chunks of a merge
   */
  public record Chunk(KeyRange range, int schema, boolean errors) {
    /** All of it. */
    public static Chunk all(ShardState state) {
      return new Chunk(KeyRange.ALL, state.schema().id(), true);
    }
  }

  /**
   * Merges batches: times below {@code since} are advanced to it, equal rows summed. Rows outside a
   * cut batch's bounds are dropped; error parts are merged likewise.
   *
   * @param state the shard
   * @param inputs the ids of the batches, oldest first
   * @param since what times are advanced to, at most the shard's
   * @param id the id of the merged batch
   * @param chunk which rows; what is left out is as if it were not there
   * @return the merged batch; empty when an input is no longer there
   * @throws IOException naming the part that can't be read, or the batch whose schema is newer than
   *     the chunk's
   */
  public Optional<Batch> merge(
      ShardState state, List<String> inputs, Frontier since, String id, Chunk chunk)
      throws IOException {
    Map<String, Batch> byId = new HashMap<>();
    state.batches().forEach(batch -> byId.put(batch.id(), batch));
    if (inputs.isEmpty()
        || !byId.keySet().containsAll(inputs)
        || !state.hasSchema(chunk.schema())) {
      return Optional.empty();
    }
    List<Batch> batches = inputs.stream().map(byId::get).toList();
    Schema schema = state.schema(chunk.schema());
    PartStore reading = parts.fetching(fetchBytes(batches));
    Frontier reached = since;
    List<UpdateCursor> rows = new ArrayList<>();
    List<UpdateCursor> errors = new ArrayList<>();
    for (Batch batch : batches) {
      if (batch.schema() > chunk.schema()) {
        throw new IOException(
            "batch %s is of schema %d: merged in schema %d it would lose columns"
                .formatted(batch.id(), batch.schema(), chunk.schema()));
      }
      reached = reached.max(batch.since());
      Schema written = state.schema(batch.schema());
      for (List<Part> run : batch.runs()) {
        rows.add(within(batch, reading.readRun(run, written, schema, chunk.range())));
      }
      for (Part part : chunk.errors() ? batch.errors() : List.<Part>of()) {
        List<Part> run = List.of(part);
        errors.add(within(batch, reading.readRun(run, ErrorRows.SCHEMA, ErrorRows.SCHEMA)));
      }
    }
    List<Part> run = write(rows, reached, schema);
    List<Part> errorRun = write(errors, reached, ErrorRows.SCHEMA);
    BatchDescription bounds =
        new BatchDescription(
            batches.get(0).bounds().lower(), batches.get(batches.size() - 1).bounds().upper());
    return Optional.of(
        batch(id, bounds, batches.get(0).level(), reached, run, errorRun, schema.id()));
  }

  private long fetchBytes(List<Batch> batches) {
    int runs = Math.max(1, batches.stream().mapToInt(Batch::runCount).sum());
    int errors = batches.stream().mapToInt(batch -> batch.errors().size()).sum();
    return Math.min(MOST_FETCH_BYTES, memoryBytes / (2L * Math.max(runs, errors)));
  }

  /**
   * Puts the merged chunks of a merge together: the merged batch.
   *
   * @param id its id
   * @param chunks all of them, in the order of rows
   */
  public static Batch join(String id, List<Batch> chunks) {
    List<Part> run = new ArrayList<>();
    List<Part> errors = new ArrayList<>();
    for (Batch chunk : chunks) {
      chunk.runs().forEach(run::addAll);
      errors.addAll(chunk.errors());
    }
    Batch first = chunks.get(0);
    return batch(id, first.bounds(), first.level(), first.since(), run, errors, first.schema());
  }

  private static UpdateCursor within(Batch batch, UpdateCursor run) {
    return batch.cut() ? new Within(run, batch.bounds()) : run;
  }

  private List<Part> write(List<UpdateCursor> inputs, Frontier since, Schema schema)
      throws IOException {
    if (inputs.isEmpty()) {
      return List.of();
    }
    try (UpdateCursor merged = looksOn.apply(new MergeCursor(inputs, since.time()))) {
      return parts.writeRun(merged, schema);
    }
  }

  private static Batch batch(
      String id,
      BatchDescription bounds,
      int level,
      Frontier since,
      List<Part> run,
      List<Part> errors,
      int schema) {
    List<List<Part>> runs = run.isEmpty() ? List.of() : List.of(run);
    return Batch.of(id, bounds, since, level, runs, errors, schema);
  }

  /** The updates of a run that lie within the bounds of its batch. */
  private static final class Within extends ForwardingCursor {
    private final BatchDescription bounds;

    Within(UpdateCursor run, BatchDescription bounds) {
      super(run);
      this.bounds = bounds;
    }

    @Override
    public boolean next() throws IOException {
      while (updates.next()) {
        if (bounds.contains(time())) {
          return true;
        }
      }
      return false;
    }
  }
}
