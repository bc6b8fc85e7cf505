package dev.tidemark.flink.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.GoldenBytes;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.part.RowBlock;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.mailbox.TaskMailbox;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WriteOperatorTest {
  private static final int KEY_GROUPS = WriteHarness.KEY_GROUPS;

  private final TestShards shards = new TestShards();
  private List<ShardTarget> targets = List.of(shards.shard("a"), shards.shard("b"));
  private SlotKeys slots = new SlotKeys(2, 1, KEY_GROUPS);
  private SinkSettings settings = TestShards.settings(1, 1 << 20, 4 << 10);
  private WriteHarness write;

  private void start() throws Exception {
    write = WriteHarness.start(new WriteOptions(targets, settings), null);
  }

  private void restart(OperatorSubtaskState state) throws Exception {
    write.close();
    write = WriteHarness.start(new WriteOptions(targets, settings), state);
  }

  @AfterEach
  void stop() throws Exception {
    write.close();
  }

  @Test
  void letsRowsLeaveSortedByKeyBeforeTheBarrier() throws Exception {
    start();
    row(0, 2, 50);
    row(0, 1, 60);
    row(1, 3, 70);
    describe(Long.MIN_VALUE, 100);
    assertThat(out()).as("before the barrier").isEmpty();
    barrier();
    assertThat(out()).containsExactly("a [min, 100): 1@60 2@50", "b [min, 100): 3@70", "W 99");
  }

  @Test
  @DisplayName("persist 1: rows before the lower get its time, none is dropped")
  void letsLateRowsLeaveAtTheLower() throws Exception {
    start();
    describe(Long.MIN_VALUE, 100);
    barrier();
    row(0, 1, 40);
    row(0, 2, 150);
    describe(100, 200);
    barrier();
    assertThat(out()).containsExactly("W 99", "a [100, 200): 1@100 2@150", "W 199");
  }

  @Test
  @DisplayName("persist 4: rows before or after their description leave with it")
  void keepsRowsForTheirDescription() throws Exception {
    start();
    row(0, 1, 250);
    row(0, 2, 50);
    describe(Long.MIN_VALUE, 100);
    barrier();
    describe(100, 200);
    barrier();
    describe(200, 300);
    barrier();
    assertThat(out())
        .containsExactly("a [min, 100): 2@50", "W 99", "W 199", "a [200, 300): 1@250", "W 299");
  }

  @Test
  void closesWithoutABarrierOnceItsOwnWatermarkHasPassed() throws Exception {
    start();
    row(0, 1, 50);
    write.processWatermark1(new Watermark(98));
    describe(Long.MIN_VALUE, 100);
    assertThat(write.getTaskMailbox().hasMail()).isFalse();
    write.processWatermark2(new Watermark(99));
    assertThat(write.getTaskMailbox().hasMail()).as("by the descriptions' watermark").isFalse();
    write.processWatermark1(new Watermark(99));
    write.getTaskMailbox().take(TaskMailbox.MIN_PRIORITY).run();
    assertThat(out()).containsExactly("a [min, 100): 1@50", "W 99");
  }

  @Test
  void keepsIdlenessToItself() throws Exception {
    start();
    write.processWatermarkStatus1(WatermarkStatus.IDLE);
    write.processWatermarkStatus2(WatermarkStatus.IDLE);
    describe(Long.MIN_VALUE, 100);
    barrier();
    assertThat(out()).containsExactly("W 99");
  }

  @Test
  void writesNothingForRowsThatCancel() throws Exception {
    start();
    write.processElement1(new StreamRecord<>(TestShards.row(slots, 0, 1, "x", 50, 1)));
    write.processElement1(new StreamRecord<>(TestShards.row(slots, 0, 1, "x", 50, -1)));
    describe(Long.MIN_VALUE, 100);
    barrier();
    assertThat(out()).containsExactly("W 99");
  }

  /** mint has ticked for a checkpoint that this subtask learnt to be aborted. */
  @Test
  void closesWhatAnAbortedCheckpointLeftOpenWithTheNextOne() throws Exception {
    start();
    row(0, 1, 50);
    describe(Long.MIN_VALUE, 100);
    row(0, 2, 150);
    describe(100, 200);
    barrier();
    assertThat(out()).containsExactly("a [min, 100): 1@50", "W 99", "a [100, 200): 2@150", "W 199");
  }

  @Test
  void letsHeldRowsLeaveAfterARestore() throws Exception {
    start();
    row(0, 1, 150);
    row(1, 2, 150);
    write.processElement1(new StreamRecord<>(TestShards.error(slots, 0, "bad", 150)));
    describe(Long.MIN_VALUE, 100);
    OperatorSubtaskState state = barrier();
    row(0, 9, 150); // is in no checkpoint: the source sends it again
    restart(state);
    row(0, 9, 150);
    describe(100, 200);
    barrier();
    assertThat(out())
        .containsExactly("a [100, 200): 1@150 9@150 !bad @150", "b [100, 200): 2@150", "W 199");
  }

  @Test
  void letsRowsHeldInAnOlderSchemaLeaveInTheNewOne() throws Exception {
    start();
    row(0, 1, 150);
    row(0, 2, 160);
    OperatorSubtaskState state = barrier();
    Schema wider =
        Schema.parse(
            "id BIGINT NOT NULL, added INT, text STRING, PRIMARY KEY (id) NOT ENFORCED", 1);
    ShardTarget old = targets.get(0);
    ShardTarget evolved =
        new ShardTarget(old.url(), old.name(), wider, old.spec(), old.retain(), true);
    targets = List.of(evolved, targets.get(1));
    out();
    restart(state);
    describe(Long.MIN_VALUE, 200);
    barrier();
    RowCodec codec = new RowCodec(wider);
    List<String> rows = new ArrayList<>();
    for (Object element : write.getOutput()) {
      if (element instanceof StreamRecord<?> record
          && record.getValue() instanceof WrittenBatch batch) {
        try (UpdateCursor block = RowBlock.decode(batch.rowBlock())) {
          while (block.next()) {
            rows.add(
                Arrays.toString(codec.decode(block.row(), block.rowOffset(), block.rowLength())));
          }
        }
        assertThat(batch.batch().schema()).isEqualTo(1);
      }
    }
    assertThat(rows).hasSize(2).allMatch(row -> row.matches("\\[[12], null, .*]"));
  }

  @Test
  void sharesHeldRowsOutWhenItIsRescaled() throws Exception {
    slots = new SlotKeys(2, 4, KEY_GROUPS);
    start();
    List<String> all = new ArrayList<>();
    for (int id = 0; id < 200; id++) {
      row(id % 2, id, 150 + id);
      all.add(id + "@" + (150 + id));
    }
    OperatorSubtaskState state = barrier();
    write.close();
    List<String> left = new ArrayList<>();
    for (int subtask = 0; subtask < 3; subtask++) {
      write = new WriteHarness(new WriteOptions(targets, settings), 3, subtask);
      write.initializeState(
          WriteHarness.repartitionOperatorState(state, KEY_GROUPS, 1, 3, subtask));
      write.open();
      describe(Long.MIN_VALUE, 1000);
      barrier();
      for (String line : out()) {
        if (!line.startsWith("W")) {
          left.addAll(List.of(line.substring(line.indexOf(": ") + 2).split(" ", -1)));
        }
      }
      write.close();
    }
    Collections.sort(all);
    Collections.sort(left);
    assertThat(left).isEqualTo(all);
  }

  @Test
  void letsErrorRowsLeaveAtTheirTimeOrAtTheLower() throws Exception {
    start();
    describe(Long.MIN_VALUE, 100);
    barrier();
    out();
    write.processElement1(new StreamRecord<>(TestShards.error(slots, 0, "timed", 150)));
    write.processElement1(new StreamRecord<>(TestShards.error(slots, 0, "timeless", NO_TIME)));
    write.processElement1(new StreamRecord<>(TestShards.error(slots, 0, "later", 250)));
    describe(100, 200);
    barrier();
    assertThat(out()).containsExactly("a [100, 200): !timed @150 !timeless @100", "W 199");
  }

  private static final long NO_TIME = Long.MIN_VALUE;

  /** Nothing may stand at the least number, which is no time. */
  @Test
  void letsATimelessErrorRowOfTheFirstDescriptionLeaveAboveTheMinimum() throws Exception {
    start();
    write.processElement1(new StreamRecord<>(TestShards.error(slots, 0, "timeless", NO_TIME)));
    describe(Long.MIN_VALUE, 100);
    barrier();
    assertThat(out()).containsExactly("a [min, 100): !timeless @" + (Long.MIN_VALUE + 1), "W 99");
  }

  @Test
  void uploadsWhatIsTooLargeForAMessage() throws Exception {
    start();
    List<String> rows = new ArrayList<>();
    for (int id = 100; id < 400; id++) {
      row(0, id, id);
      rows.add(id + "@" + id);
    }
    describe(Long.MIN_VALUE, 1000);
    barrier();
    WrittenBatch batch = batches().get(0);
    assertThat(batch.rowBlock()).isEmpty();
    assertThat(batch.batch().runs()).hasSize(1);
    assertThat(out()).containsExactly("a [min, 1000): " + String.join(" ", rows), "W 999");
  }

  @Test
  void whatMemoryHasNoRoomForWaitsOnDiskAndOverABarrierInState() throws Exception {
    settings = TestShards.settings(1, 10_000, 64 << 10);
    start();
    List<String> first = new ArrayList<>();
    List<String> second = new ArrayList<>();
    for (int id = 1000; id < 2000; id++) {
      row(0, id, id);
      (id < 1500 ? first : second).add(id + "@" + id);
    }
    assertThat(write.slotsWithHeldRows()).as("held before any barrier").isZero();
    assertThat(bufferedBytes()).isLessThanOrEqualTo(10_000);
    describe(Long.MIN_VALUE, 1500);
    OperatorSubtaskState state = barrier();
    assertThat(out()).containsExactly("a [min, 1500): " + String.join(" ", first), "W 1499");
    assertThat(write.slotsWithHeldRows()).as("held over the barrier").isPositive();
    restart(state);
    describe(1500, 5000);
    barrier();
    assertThat(out()).containsExactly("a [1500, 5000): " + String.join(" ", second), "W 4999");
    assertThat(write.slotsWithHeldRows()).as("held afterwards").isZero();
  }

  private long bufferedBytes() {
    return write.write().bufferedBytes();
  }

  /**
   * Very many rows of one time are far more than the buffer; a few earlier ones leave first. They
   * leave as one run, whatever lay where in between.
   */
  @Test
  void aBatchOfAnySizeLeavesAsOneRunOfBoundedMemory() throws Exception {
    int count = 600_000;
    long buffer = 2 << 20;
    settings = TestShards.settings(1, buffer, 64 << 10);
    start();
    long most = 0;
    long spilled = 0;
    for (int i = 0; i < count; i++) {
      row(0, mixed(i), i % 1000 == 0 ? 50 : 150);
      if (i % 10_000 == 0) {
        most = Math.max(most, bufferedBytes());
      }
    }
    spilled = write.write().spilledBytes();
    describe(Long.MIN_VALUE, 100);
    barrier();
    assertThat(bufferedBytes()).as("behind the barrier").isZero();
    assertThat(write.write().spilledBytes()).isZero();
    describe(100, 200);
    barrier();
    assertThat(most).as("in memory").isLessThanOrEqualTo(buffer);
    assertThat(spilled).as("on disk").isPositive();
    assertThat(batches()).hasSize(2);
    assertThat(batches()).allSatisfy(batch -> assertThat(batch.batch().runCount()).isLessThan(2));
    assertThat(batches().get(0).batch().rows()).isEqualTo(count / 1000);
    WrittenBatch large = batches().get(1);
    assertThat(large.batch().runCount()).isEqualTo(1);
    assertThat(large.batch().rows()).isEqualTo(count - count / 1000);
    long ids = 0;
    for (Part part : large.batch().runs().get(0)) {
      try (UpdateCursor rows =
          TestShards.parts(targets.get(0)).read(part, TestShards.SCHEMA, TestShards.SCHEMA)) {
        RowCodec codec = new RowCodec(TestShards.SCHEMA);
        while (rows.next()) {
          ids += (Long) codec.decode(rows.row(), rows.rowOffset(), rows.rowLength())[0];
        }
      }
    }
    long expected = 0;
    for (int i = 0; i < count; i++) {
      expected += i % 1000 == 0 ? 0 : mixed(i);
    }
    assertThat(ids).isEqualTo(expected);
  }

  /** Numbers in no order, and no two the same. */
  private static long mixed(long i) {
    return i * 0x9E3779B97F4A7C15L;
  }

  /** Held rows of a build that kept them as one list a slot. */
  @Test
  void takesHeldRowsOverFromAnEarlierBuild() throws Exception {
    start();
    byte[] chunk = GoldenBytes.read("held-chunk-1");
    ListState<byte[]> earlier =
        write
            .getOperator()
            .getKeyedStateStore()
            .getListState(
                new ListStateDescriptor<>(
                    "held-rows-1", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    write.getOperator().setCurrentKey(slots.shardKey(0));
    earlier.add(chunk);
    earlier.add(chunk);
    restart(barrier());
    describe(Long.MIN_VALUE, 2000);
    barrier();
    assertThat(batches()).hasSize(1);
    assertThat(batches().get(0).batch().rows()).isEqualTo(3);
    assertThat(batches().get(0).batch().sum()).hasValue(6);
  }

  @Test
  void letsEverythingLeaveAtTheEnd() throws Exception {
    start();
    row(0, 1, 150);
    row(0, 2, 1_000_000);
    describe(Long.MIN_VALUE, 100);
    barrier();
    out();
    describe(100, Long.MAX_VALUE);
    write.processWatermark1(Watermark.MAX_WATERMARK);
    assertThat(out()).containsExactly("a [100, end): 1@150 2@1000000", "W " + Long.MAX_VALUE);
    write.endAllInputs();
  }

  @Test
  void letsEverythingLeaveAtTheEndWhicheverInputEndsFirst() throws Exception {
    start();
    row(0, 1, 150);
    write.processWatermark1(Watermark.MAX_WATERMARK);
    assertThat(out()).isEmpty();
    describe(Long.MIN_VALUE, Long.MAX_VALUE);
    assertThat(out()).containsExactly("a [min, end): 1@150", "W " + Long.MAX_VALUE);
  }

  @Test
  @DisplayName("persist 3: a description that comes twice, or not next, breaks the slot")
  void breaksWhenDescriptionsDoNotTile() throws Exception {
    start();
    describe(Long.MIN_VALUE, 100);
    assertThatThrownBy(() -> describe(150, 200))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("100");
  }

  @Test
  void breaksWhenRowsAreLeftAtTheEnd() throws Exception {
    start();
    row(0, 1, 150);
    assertThatThrownBy(() -> write.write().finish())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("shard a");
  }

  private void row(int shard, long id, long time) throws Exception {
    write.processElement1(new StreamRecord<>(TestShards.row(slots, shard, id, "x", time, 1)));
  }

  private void describe(long lower, long upper) throws Exception {
    write.describe(lower, upper);
  }

  private OperatorSubtaskState barrier() throws Exception {
    return write.barrier();
  }

  private List<String> out() throws Exception {
    return write.out();
  }

  private List<WrittenBatch> batches() {
    return write.extractOutputValues();
  }
}
