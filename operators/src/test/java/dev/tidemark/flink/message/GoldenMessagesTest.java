package dev.tidemark.flink.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.GoldenBytes;
import dev.tidemark.flink.ShardCommit;
import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

/** Messages lie in checkpoints: as state, or on their way. */
final class GoldenMessagesTest {
  private static final BatchDescription BOUNDS =
      new BatchDescription(Frontier.MINIMUM, Frontier.of(2000));

  private static final Batch BATCH =
      new Batch(
          "batch-1",
          BOUNDS,
          Frontier.MINIMUM,
          0,
          List.of(),
          List.of(),
          3,
          120,
          40,
          OptionalLong.of(1),
          1999,
          false,
          1,
          Map.of());

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void description() {
    GoldenBytes.check("description-1", DescriptionSerializer.INSTANCE, BOUNDS);
    GoldenBytes.check(
        "description-1-end",
        DescriptionSerializer.INSTANCE,
        new BatchDescription(Frontier.of(-5), Frontier.END));
  }

  @Test
  void update() {
    GoldenBytes.check(
        "update-1",
        UpdateSerializer.INSTANCE,
        new Update(2, 1026, false, bytes("row"), 1234567890123L, -1));
    GoldenBytes.check(
        "update-1-error",
        UpdateSerializer.INSTANCE,
        new Update(0, 7, true, bytes("error"), Long.MIN_VALUE, 1));
  }

  @Test
  void rawRecord() {
    RawRecord full = new RawRecord();
    full.key = bytes("key");
    full.value = bytes("value");
    full.header = bytes("a,b");
    full.place = "orders-3";
    full.partition = "3";
    full.topic = "orders";
    full.number = 42;
    full.byteOffset = 4096;
    full.timestampMillis = 1234567890123L;
    full.flaw = "too long";
    GoldenBytes.check("raw-record-2", RawRecordSerializer.INSTANCE, full);
    RawRecord least = new RawRecord();
    least.place = "file";
    GoldenBytes.check("raw-record-2-least", RawRecordSerializer.INSTANCE, least);
    GoldenBytes.check(
        "raw-record-2-over",
        RawRecordSerializer.INSTANCE,
        RawRecord.mark(RawRecord.Mark.OVER, "orders-3"));
  }

  /** Version 1 knew no marks: all was records. */
  @Test
  void earlierRawRecords() throws Exception {
    for (String file : List.of("raw-record-1", "raw-record-1-least")) {
      byte[] golden = GoldenBytes.read(file);
      RawRecord read = RawRecordSerializer.INSTANCE.deserialize(new DataInputDeserializer(golden));
      assertThat(read.mark).isEqualTo(RawRecord.Mark.NONE);
      assertThat(read.place).isEqualTo(read.topic == null ? "file" : "orders-3");
    }
  }

  @Test
  void writtenBatch() {
    GoldenBytes.check(
        "written-batch-1",
        WrittenBatch.Serializer.INSTANCE,
        new WrittenBatch(2, 1026, BATCH, bytes("rows"), bytes("errors")));
  }

  @Test
  void mergeTask() {
    MergeTask task =
        new MergeTask(
            2,
            MergeTask.CONSOLIDATION,
            List.of("a", "b"),
            Frontier.of(1000),
            4096,
            "plan",
            1,
            3,
            new KeyRange("01", null),
            7);
    GoldenBytes.check("merge-task-2", MergeTask.Serializer.INSTANCE, task);
    GoldenBytes.check(
        "merged-chunk-1", MergedChunk.Serializer.INSTANCE, new MergedChunk(task, BATCH));
  }

  /** A task of version 1 has no plan, and is dropped for the spine to ask anew. */
  @Test
  void earlierMergeTask() throws Exception {
    byte[] golden = GoldenBytes.read("merge-task-1");
    MergeTask read = MergeTask.Serializer.INSTANCE.deserialize(new DataInputDeserializer(golden));
    assertThat(read.inputs()).containsExactly("a", "b");
    assertThat(read.plan()).isEmpty();
  }

  @Test
  void spineChange() {
    GoldenBytes.check(
        "spine-change-1-install",
        SpineChange.Serializer.INSTANCE,
        new SpineChange(2, new Command.InstallMerge(1, List.of("a", "b"), BATCH)));
    GoldenBytes.check(
        "spine-change-1-promote",
        SpineChange.Serializer.INSTANCE,
        new SpineChange(2, new Command.PromoteLevel("a", 3)));
    GoldenBytes.check(
        "spine-change-1-consolidate",
        SpineChange.Serializer.INSTANCE,
        new SpineChange(2, new Command.BeginConsolidation(Frontier.of(1000))));
    GoldenBytes.check(
        "spine-change-1-since",
        SpineChange.Serializer.INSTANCE,
        new SpineChange(2, new Command.DowngradeSince(Frontier.of(1000))));
  }

  @Test
  void shardCommit() {
    GoldenBytes.check(
        "shard-commit-1",
        ShardCommit.Serializer.INSTANCE,
        new ShardCommit(2, "orders", new SeqNo(42), Frontier.of(2000), 3));
  }

  @Test
  void keyedRow() {
    GoldenBytes.check(
        "keyed-row-2",
        KeyedRowSerializer.INSTANCE,
        new KeyedRow(2, bytes("key"), bytes("key and row"), 1234, true));
    GoldenBytes.check(
        "keyed-row-2-truncate", KeyedRowSerializer.INSTANCE, KeyedRow.truncate(2, 7, 1234));
    KeyedRow.Patch patch = new KeyedRow.Patch(new int[] {1, 4}, bytes("error"));
    GoldenBytes.check(
        "keyed-row-2-patch",
        KeyedRowSerializer.INSTANCE,
        new KeyedRow(2, bytes("key"), bytes("key and row"), 1234, true, false, patch, 77));
  }

  @Test
  void keyedRowsOfTheFirstFormAreStillRead() throws Exception {
    KeyedRow set =
        KeyedRowSerializer.INSTANCE.deserialize(
            new DataInputDeserializer(GoldenBytes.read("keyed-row-1")));
    assertThat(set.row()).isEqualTo(bytes("key and row"));
    assertThat(set.counted()).isTrue();
    assertThat(set.truncate()).isFalse();
    assertThat(set.patch()).isNull();
    KeyedRow delete =
        KeyedRowSerializer.INSTANCE.deserialize(
            new DataInputDeserializer(GoldenBytes.read("keyed-row-1-delete")));
    assertThat(delete.key()).isEqualTo(bytes("key"));
    assertThat(delete.row()).isNull();
    assertThat(delete.time()).isEqualTo(1234);
  }
}
