package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.decode.DebeziumSettings;
import dev.tidemark.flink.decode.DecodeOperator;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.decode.DecodeSettings.Format;
import dev.tidemark.flink.decode.Envelope;
import dev.tidemark.flink.decode.TableMapping;
import dev.tidemark.flink.decode.WatermarkSettings;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.UpdateSerializer;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;

/** Where a job began without state is weighed by what it met then, after a restart too. */
class StartStateTest {
  private final TestShards shards = new TestShards();
  private final ShardTarget there = shards.shard("there");
  private final SlotKeys slots = new SlotKeys(1, 1, 16);
  private final ShardTarget shard =
      new ShardTarget(
          there.url(),
          "there",
          Schema.parse("ts BIGINT NOT NULL, PRIMARY KEY (ts) NOT ENFORCED", 1),
          SpineSpec.DEFAULT,
          null);

  private OneInputStreamOperatorTestHarness<RawRecord, Update> open(
      StartMode mode, OperatorSubtaskState state) throws Exception {
    DecodeSettings decode =
        new DecodeSettings(
            Format.JSON,
            DebeziumSettings.DEFAULT,
            List.of(new TableMapping(0, null, Envelope.APPEND, "ts")),
            true,
            false,
            Long.MAX_VALUE - 1,
            Long.MAX_VALUE);
    OneInputStreamOperatorTestHarness<RawRecord, Update> harness =
        new OneInputStreamOperatorTestHarness<>(
            new DecodeOperator(
                decode,
                List.of(shard),
                slots,
                new WatermarkSettings(Duration.ZERO, null, false),
                new StartSettings(mode, StoreSettings.DEFAULT)));
    harness.setup(UpdateSerializer.INSTANCE);
    if (state == null) {
      harness.initializeEmptyState();
    } else {
      harness.initializeState(state);
    }
    harness.open();
    return harness;
  }

  private static List<Long> times(
      OneInputStreamOperatorTestHarness<RawRecord, Update> harness, long... times)
      throws Exception {
    for (long time : times) {
      byte[] line = ("{\"ts\":" + time + "}").getBytes(StandardCharsets.UTF_8);
      RawRecord record = new RawRecord();
      record.value = line;
      harness.processElement(new StreamRecord<>(record));
    }
    List<Long> out = new ArrayList<>();
    for (Object element : harness.getOutput()) {
      if (element instanceof StreamRecord<?> record) {
        out.add(((Update) record.getValue()).time);
      }
    }
    harness.getOutput().clear();
    return out;
  }

  @Test
  void whatWasMetFirstStaysWhateverIsCommittedSince() throws Exception {
    long min = Long.MIN_VALUE;
    TestShards.append(there, min, 100, TestShards.row(slots, 0, 1, "x", 99, 1));
    var first = open(StartMode.RESUME_BY_TIME, null);
    assertThat(times(first, 98, 99, 100, 101)).containsExactly(100L, 101L);
    OperatorSubtaskState state = first.snapshot(1, 1);
    first.close();
    TestShards.append(there, 100, 200, TestShards.row(slots, 0, 2, "x", 199, 1));
    var restarted = open(StartMode.REFUSE, state);
    assertThat(times(restarted, 99, 150, 250)).containsExactly(150L, 250L);
    restarted.close();
    var fresh = open(StartMode.APPEND, null);
    assertThat(times(fresh, 99, 150, 250)).containsExactly(200L, 200L, 250L);
    fresh.close();
  }
}
