package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Batches as write hands them over. */
final class TestBatches {
  private TestBatches() {}

  /** One batch a slot; the rows travel in the message. */
  static List<WrittenBatch> inline(long lower, long upper, Update... updates) throws Exception {
    Map<Integer, List<Update>> bySlot = new TreeMap<>();
    for (Update update : updates) {
      bySlot.computeIfAbsent(update.slotKey, missing -> new ArrayList<>()).add(update);
    }
    List<WrittenBatch> batches = new ArrayList<>();
    for (Map.Entry<Integer, List<Update>> slot : bySlot.entrySet()) {
      batches.add(batch(slot.getKey(), lower, upper, List.of(), slot.getValue()));
    }
    return batches;
  }

  /** A batch of one uploaded run, as if it came from the slot. */
  static WrittenBatch uploaded(
      ShardTarget target, int slot, long lower, long upper, Update... updates) throws Exception {
    RowBuffer buffer = buffer(List.of(updates), false);
    List<Part> run = TestShards.parts(target).writeRun(buffer.sorted(), TestShards.SCHEMA);
    return batch(slot, lower, upper, List.of(run), List.of(updates));
  }

  /** A batch of one row in a run that exists by name only: for whoever doesn't read it. */
  static WrittenBatch named(int slot, long lower, long upper, String key) {
    long time = upper - 1;
    PartLocation at = new PartLocation.Stored(key, 100, "00c0ffee");
    Part part = new Part(at, 1, 24, 1, 0, null, null, time, time, Map.of());
    BatchDescription bounds = new BatchDescription(Frontier.of(lower), Frontier.of(upper));
    Batch batch = Batch.of("", bounds, Frontier.MINIMUM, 0, List.of(List.of(part)), List.of(), 1);
    return new WrittenBatch(0, slot, batch, WrittenBatch.NO_BLOCK, WrittenBatch.NO_BLOCK);
  }

  private static WrittenBatch batch(
      int slot, long lower, long upper, List<List<Part>> runs, List<Update> updates)
      throws Exception {
    long rows = 0;
    long bytes = 0;
    long sum = 0;
    long errors = 0;
    long retracted = 0;
    long maxTime = Long.MIN_VALUE;
    for (Update update : updates) {
      maxTime = Math.max(maxTime, update.time);
      if (update.error) {
        errors++;
      } else {
        rows++;
        bytes += update.row.length + 16;
        retracted += update.diff < 0 ? update.row.length + 16 : 0;
        sum += update.diff;
      }
    }
    BatchDescription bounds = new BatchDescription(Frontier.of(lower), Frontier.of(upper));
    Batch batch =
        new Batch(
            "",
            bounds,
            Frontier.MINIMUM,
            0,
            runs,
            List.of(),
            rows,
            bytes,
            retracted,
            OptionalLong.of(sum),
            maxTime,
            false,
            1,
            Map.of());
    boolean inline = runs.isEmpty() && rows > 0;
    return new WrittenBatch(
        updates.get(0).shard,
        slot,
        batch,
        inline ? RowBlock.encode(buffer(updates, false).sorted()) : WrittenBatch.NO_BLOCK,
        errors > 0 ? RowBlock.encode(buffer(updates, true).sorted()) : WrittenBatch.NO_BLOCK);
  }

  private static RowBuffer buffer(List<Update> updates, boolean errors) {
    RowBuffer buffer = new RowBuffer();
    for (Update update : updates) {
      if (update.error == errors) {
        buffer.add(update.row, 0, update.row.length, update.time, update.diff);
      }
    }
    return buffer;
  }
}
