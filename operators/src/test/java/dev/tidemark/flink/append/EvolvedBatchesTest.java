package dev.tidemark.flink.append;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.TestShards;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;

/** Batches that a job wrote before its shard's schema changed are appended after it. */
class EvolvedBatchesTest {
  private final TestShards shards = new TestShards();
  private final SlotKeys slots = new SlotKeys(1, 2, AppendHarness.KEY_GROUPS);

  @Test
  void aRestoredBatchIsAppendedAsItWasWritten() throws Exception {
    ShardTarget old = shards.shard("a");
    var settings = TestShards.settings(2, 1 << 20, 4 << 10);
    OperatorSubtaskState state;
    try (AppendHarness append = AppendHarness.start(List.of(old), settings, slots, null)) {
      append.add(
          TestBatches.inline(
              Long.MIN_VALUE,
              100,
              TestShards.row(slots, 0, 1, "inline", 50, 1),
              TestShards.row(slots, 0, 2, "inline", 60, 1)));
      WrittenBatch uploaded =
          TestBatches.uploaded(
              old, slots.shardKey(0), 100, 200, TestShards.row(slots, 0, 3, "uploaded", 150, 1));
      append.add(List.of(uploaded));
      append.processWatermark(new Watermark(199));
      state = append.snapshot(1, 1);
    }
    Schema wider =
        Schema.parse(
            "id BIGINT NOT NULL, added INT, text STRING, PRIMARY KEY (id) NOT ENFORCED", 1);
    ShardTarget evolved =
        new ShardTarget(old.url(), old.name(), wider, old.spec(), old.retain(), true);
    AppendHarness.start(List.of(evolved), settings, slots, state).close();

    ShardLog log = new ShardLog(TestShards.open(evolved));
    ShardState there = log.refresh();
    assertThat(there.schemas()).hasSize(2);
    assertThat(there.batches()).isNotEmpty().allMatch(batch -> batch.schema() == 1);
    RowCodec codec = new RowCodec(there.schema());
    List<String> rows = new ArrayList<>();
    try (UpdateCursor all = new ShardReader(log).snapshot(there, 199)) {
      while (all.next()) {
        rows.add(Arrays.toString(codec.decode(all.row(), all.rowOffset(), all.rowLength())));
      }
    }
    assertThat(rows)
        .containsExactly("[1, null, inline]", "[2, null, inline]", "[3, null, uploaded]");
  }
}
