package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.part.PartStore;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.ChangedCursor;
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
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * Makes one batch of a shard out of what its slots have written: uploaded runs stay as they are,
 * and all rows that travelled in messages become one run, in the log entry where they are few.
 */
final class BatchBuilder {
  private final PartStore parts;
  private final ShardState state;
  private final int inlineBytes;
  private final int freshRuns;
  private final boolean cuts;

  /**
   * A builder.
   *
   * @param cuts whether a batch may have rows outside its bounds; else those are a fault of ours,
   *     which the log refuses
   */
  BatchBuilder(PartStore parts, ShardState state, int inlineBytes, int freshRuns, boolean cuts) {
    this.parts = parts;
    this.state = state;
    this.inlineBytes = inlineBytes;
    this.freshRuns = freshRuns;
    this.cuts = cuts;
  }

  Batch build(AppendPlan.Group group) throws IOException {
    List<List<Part>> runs = new ArrayList<>();
    List<byte[]> blocks = new ArrayList<>();
    List<Part> errors = new ArrayList<>();
    List<byte[]> errorBlocks = new ArrayList<>();
    Schema schema = schema(group);
    for (WrittenBatch written : group.batches()) {
      runs.addAll(runs(written, schema));
      errors.addAll(written.batch().errors());
      addBlock(blocks, rowBlock(written, schema));
      addBlock(errorBlocks, written.errorBlock());
    }
    List<Part> small = ofBlocks(blocks, schema);
    if (!small.isEmpty()) {
      runs.add(small);
    }
    errors.addAll(ofBlocks(errorBlocks, ErrorRows.SCHEMA));
    while (runs.size() > freshRuns) {
      runs = withFewerRuns(runs, schema);
    }
    return batch(group, runs, errors, schema);
  }

  /** The newest schema in which anything of the batch was written: a batch has one. */
  private Schema schema(AppendPlan.Group group) {
    return group.batches().stream()
        .map(written -> state.schema(written.batch().schema()))
        .max(Comparator.comparingInt(Schema::id))
        .orElse(state.schema());
  }

  /** The runs of a written batch, written anew where a restored job wrote them in an old schema. */
  private List<List<Part>> runs(WrittenBatch written, Schema schema) throws IOException {
    Schema old = state.schema(written.batch().schema());
    if (old.id() == schema.id()) {
      return written.batch().runs();
    }
    List<List<Part>> runs = new ArrayList<>();
    for (List<Part> run : written.batch().runs()) {
      try (UpdateCursor rows = parts.readRun(run, old, schema)) {
        List<Part> anew = parts.writeRun(rows, schema);
        if (!anew.isEmpty()) {
          runs.add(anew);
        }
      }
    }
    return runs;
  }

  private byte[] rowBlock(WrittenBatch written, Schema schema) throws IOException {
    Schema old = state.schema(written.batch().schema());
    byte[] block = written.rowBlock();
    if (old.id() == schema.id() || block.length == 0) {
      return block;
    }
    try (UpdateCursor rows = new ChangedCursor(RowBlock.decode(block), old, schema)) {
      return RowBlock.encode(rows);
    }
  }

  private static void addBlock(List<byte[]> blocks, byte[] block) {
    if (block.length > 0) {
      blocks.add(block);
    }
  }

  private List<Part> ofBlocks(List<byte[]> blocks, Schema written) throws IOException {
    if (blocks.isEmpty()) {
      return List.of();
    }
    if (blocks.size() == 1) {
      return List.of(PartStore.inline(blocks.get(0), written));
    }
    byte[] together;
    try (UpdateCursor merged = merged(blocks)) {
      together = RowBlock.encode(merged);
    }
    Part inline = PartStore.inline(together, written);
    if (inline.rows() == 0) {
      return List.of();
    }
    if (inline.bytes() <= inlineBytes) {
      return List.of(inline);
    }
    try (UpdateCursor rows = RowBlock.decode(together)) {
      return parts.writeRun(rows, written);
    }
  }

  private static UpdateCursor merged(List<byte[]> blocks) throws IOException {
    List<UpdateCursor> inputs = new ArrayList<>();
    for (byte[] block : blocks) {
      inputs.add(RowBlock.decode(block));
    }
    return new MergeCursor(inputs, Long.MIN_VALUE);
  }

  /**
   * A description can have more runs than a batch may when the job was restored with other slots:
   * rows held for the old ones leave beside those of the new. The first two runs become one.
   */
  private List<List<Part>> withFewerRuns(List<List<Part>> runs, Schema schema) throws IOException {
    List<UpdateCursor> firstTwo = new ArrayList<>();
    for (List<Part> run : runs.subList(0, 2)) {
      firstTwo.add(parts.readRun(run, schema, schema));
    }
    List<List<Part>> fewer = new ArrayList<>(runs.subList(2, runs.size()));
    try (UpdateCursor merged = new MergeCursor(firstTwo, Long.MIN_VALUE)) {
      List<Part> run = parts.writeRun(merged, schema);
      if (!run.isEmpty()) {
        fewer.add(run);
      }
    }
    return fewer;
  }

  private Batch batch(
      AppendPlan.Group group, List<List<Part>> runs, List<Part> errors, Schema schema) {
    BatchDescription bounds = group.bounds();
    Batch batch =
        Batch.of(ShardHandle.newId(), bounds, Frontier.MINIMUM, 0, runs, errors, schema.id());
    boolean cut =
        cuts
            && Stream.concat(runs.stream().flatMap(List::stream), errors.stream())
                .anyMatch(
                    part -> !bounds.contains(part.minTime()) || !bounds.contains(part.maxTime()));
    return cut ? cut(batch) : batch;
  }

  /** A batch with rows outside its bounds, which readers leave out: its figures are at most so. */
  private static Batch cut(Batch batch) {
    return new Batch(
        batch.id(),
        batch.bounds(),
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
