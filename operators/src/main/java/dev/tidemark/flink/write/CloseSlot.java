package dev.tidemark.flink.write;

import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.part.PartStore;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Closes one description for one slot: merges what the slot has, lets the rows below the upper
 * leave at {@code max(time, lower)}, consolidated, as one run, and keeps the others. Runs in an
 * executor: it touches nothing but what it was given.
 */
final class CloseSlot {
  /** The slot's shard, as far as closing needs it. */
  interface Shard {
    /** The schema of its rows. */
    Schema schema() throws IOException;

    /** Its parts; asked only when something must be uploaded. */
    PartStore parts() throws IOException;
  }

  /**
   * What a lane gave away for this.
   *
   * @param rows what was in memory
   * @param runs what was on disk or held
   */
  record Taken(Lane.Rows rows, Runs runs) {
    boolean isEmpty() {
      return rows.isEmpty() && runs.isEmpty();
    }

    /** What it takes in memory, about; what is held is compressed. */
    long bytes() {
      return rows.bytes() + runs.bytes();
    }
  }

  /**
   * How it ended.
   *
   * @param batch what leaves; null when nothing does
   * @param stayRows rows that stay
   * @param stayErrors error rows that stay
   * @param updates how many updates leave, error rows not counted
   * @param retimed how many rows came too late for their own time
   */
  record Closed(
      @Nullable WrittenBatch batch,
      Staying stayRows,
      Staying stayErrors,
      long updates,
      long retimed) {}

  private final Slot slot;
  private final BatchDescription description;
  private final Taken rows;
  private final Taken errors;
  private final int inlineBytes;
  private final long stayBytes;
  private final SpillFolder folder;
  private final Shard shard;
  private long retimed;

  CloseSlot(
      Slot slot,
      BatchDescription description,
      Taken rows,
      Taken errors,
      WriteOptions options,
      SpillFolder folder,
      Shard shard) {
    this.slot = slot;
    this.description = description;
    this.rows = rows;
    this.errors = errors;
    this.inlineBytes = options.inlineBytes();
    this.stayBytes = options.stayBytes();
    this.folder = folder;
    this.shard = shard;
  }

  /** Where a lane's rows went: into parts, or into a block. */
  private static final class Left {
    static final Left NOTHING = new Left(List.of(), WrittenBatch.NO_BLOCK, new Tally());

    final List<Part> run;
    final byte[] block;
    final Tally tally;

    Left(List<Part> run, byte[] block, Tally tally) {
      this.run = run;
      this.block = block;
      this.tally = tally;
    }
  }

  /** What is counted of updates. */
  private static final class Tally {
    long rows;
    long bytes;
    long retracted;
    long sum;
    long maxTime = Long.MIN_VALUE;

    void add(UpdateCursor update) {
      long rowBytes = update.rowLength() + 2L * Long.BYTES;
      rows++;
      bytes += rowBytes;
      retracted += update.diff() < 0 ? rowBytes : 0;
      sum += update.diff();
      maxTime = Math.max(maxTime, update.time());
    }

    void add(Part part) {
      rows += part.rows();
      bytes += part.bytes();
      retracted += part.retracted();
      sum += part.sum();
      maxTime = Math.max(maxTime, part.maxTime());
    }
  }

  Closed run() throws IOException {
    Staying stayRows = new Staying(folder, stayBytes);
    Staying stayErrors = new Staying(folder, stayBytes);
    Schema schema = shard.schema();
    Left left = leave(rows, stayRows, schema);
    Left leftErrors = leave(errors, stayErrors, ErrorRows.SCHEMA);
    Tally tally = left.tally;
    if (tally.rows == 0 && leftErrors.tally.rows == 0) {
      return new Closed(null, stayRows, stayErrors, 0, retimed);
    }
    Batch batch =
        new Batch(
            "",
            description,
            Frontier.MINIMUM,
            0,
            left.run.isEmpty() ? List.of() : List.of(left.run),
            leftErrors.run,
            tally.rows,
            tally.bytes,
            tally.retracted,
            OptionalLong.of(tally.sum),
            Math.max(tally.maxTime, leftErrors.tally.maxTime),
            false,
            schema.id(),
            Map.of());
    WrittenBatch written =
        new WrittenBatch(slot.shard(), slot.key(), batch, left.block, leftErrors.block);
    return new Closed(written, stayRows, stayErrors, tally.rows, retimed);
  }

  private Left leave(Taken taken, Staying stay, Schema written) throws IOException {
    if (taken.isEmpty()) {
      return Left.NOTHING;
    }
    try (Runs runs = taken.runs()) {
      List<Leaving> inputs = new ArrayList<>();
      if (!taken.rows().isEmpty()) {
        inputs.add(new Leaving(taken.rows().sorted(), description, stay));
      }
      for (UpdateCursor run : runs.cursors()) {
        inputs.add(new Leaving(run, description, stay));
      }
      try (UpdateCursor merged = new MergeCursor(List.copyOf(inputs), leastTime())) {
        Left left = write(merged, written);
        for (Leaving input : inputs) {
          retimed += input.retimed();
        }
        return left;
      }
    }
  }

  /** No row leaves at {@code Long.MIN_VALUE}, which is no time: not an error row without one. */
  private long leastTime() {
    return Math.max(description.lower().time(), Long.MIN_VALUE + 1);
  }

  /** The first rows are kept until there are too many to travel in the message. */
  private Left write(UpdateCursor run, Schema written) throws IOException {
    RowBuffer head = new RowBuffer();
    Tally tally = new Tally();
    while (run.next()) {
      head.add(run.row(), run.rowOffset(), run.rowLength(), run.time(), run.diff());
      tally.add(run);
      if (tally.bytes > inlineBytes) {
        return upload(new Joined(head.sorted(), run), written);
      }
    }
    return tally.rows == 0
        ? Left.NOTHING
        : new Left(List.of(), RowBlock.encode(head.sorted()), tally);
  }

  private Left upload(UpdateCursor run, Schema written) throws IOException {
    List<Part> uploaded = shard.parts().writeRun(run, written);
    Tally tally = new Tally();
    uploaded.forEach(tally::add);
    return new Left(uploaded, WrittenBatch.NO_BLOCK, tally);
  }
}
