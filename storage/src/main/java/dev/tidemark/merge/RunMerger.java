package dev.tidemark.merge;

import dev.tidemark.part.PartStore;
import dev.tidemark.row.ErrorRows;
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
import java.util.OptionalLong;

/**
 * Merges neighbouring batches of a shard into one of one run. Changes nothing in the log: what it
 * writes is an orphan until somebody installs it.
 */
public final class RunMerger {
  private final PartStore parts;

  /** Reads and writes these parts. */
  public RunMerger(PartStore parts) {
    this.parts = parts;
  }

  /**
   * Merges batches: times below {@code since} are advanced to it, equal rows summed. Rows outside a
   * cut batch's bounds are dropped; error parts are merged likewise.
   *
   * @param state the shard
   * @param inputs the ids of the batches, oldest first
   * @param since what times are advanced to, at most the shard's
   * @param id the id of the merged batch
   * @return the merged batch; empty when an input is no longer there
   */
  public Optional<Batch> merge(ShardState state, List<String> inputs, Frontier since, String id)
      throws IOException {
    Map<String, Batch> byId = new HashMap<>();
    state.batches().forEach(batch -> byId.put(batch.id(), batch));
    if (!byId.keySet().containsAll(inputs)) {
      return Optional.empty();
    }
    List<Batch> batches = inputs.stream().map(byId::get).toList();
    Schema schema = state.schema();
    Frontier reached = since;
    List<UpdateCursor> rows = new ArrayList<>();
    List<UpdateCursor> errors = new ArrayList<>();
    for (Batch batch : batches) {
      reached = reached.max(batch.since());
      Schema written = state.schema(batch.schema());
      for (List<Part> run : batch.runs()) {
        rows.add(within(batch, parts.readRun(run, written, schema)));
      }
      for (Part part : batch.errors()) {
        errors.add(within(batch, parts.readRun(List.of(part), ErrorRows.SCHEMA, ErrorRows.SCHEMA)));
      }
    }
    List<Part> run = write(rows, reached, schema);
    List<Part> errorRun = write(errors, reached, ErrorRows.SCHEMA);
    return Optional.of(batch(id, batches, reached, run, errorRun, schema.id()));
  }

  private static UpdateCursor within(Batch batch, UpdateCursor run) {
    return batch.cut() ? new Within(run, batch.bounds()) : run;
  }

  private List<Part> write(List<UpdateCursor> inputs, Frontier since, Schema schema)
      throws IOException {
    if (inputs.isEmpty()) {
      return List.of();
    }
    try (UpdateCursor merged = new MergeCursor(inputs, since.time())) {
      return parts.writeRun(merged, schema);
    }
  }

  private static Batch batch(
      String id,
      List<Batch> inputs,
      Frontier since,
      List<Part> run,
      List<Part> errors,
      int schema) {
    long rows = 0;
    long bytes = 0;
    long retracted = 0;
    long sum = 0;
    long maxTime = Long.MIN_VALUE;
    for (Part part : run) {
      rows += part.rows();
      bytes += part.bytes();
      retracted += part.retracted();
      sum += part.sum();
      maxTime = Math.max(maxTime, part.maxTime());
    }
    BatchDescription bounds =
        new BatchDescription(
            inputs.get(0).bounds().lower(), inputs.get(inputs.size() - 1).bounds().upper());
    return new Batch(
        id,
        bounds,
        since,
        inputs.get(0).level(),
        run.isEmpty() ? List.of() : List.of(run),
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

  /** The updates of a run that lie within the bounds of its batch. */
  private static final class Within implements UpdateCursor {
    private final UpdateCursor run;
    private final BatchDescription bounds;

    Within(UpdateCursor run, BatchDescription bounds) {
      this.run = run;
      this.bounds = bounds;
    }

    @Override
    public boolean next() throws IOException {
      while (run.next()) {
        if (bounds.contains(run.time())) {
          return true;
        }
      }
      return false;
    }

    @Override
    public byte[] row() {
      return run.row();
    }

    @Override
    public int rowOffset() {
      return run.rowOffset();
    }

    @Override
    public int rowLength() {
      return run.rowLength();
    }

    @Override
    public long time() {
      return run.time();
    }

    @Override
    public long diff() {
      return run.diff();
    }

    @Override
    public void close() throws IOException {
      run.close();
    }
  }
}
