package dev.tidemark.flink.upsert;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.StoreSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rows of keys become retractions and additions. */
class UpsertFunctionTest {
  private static final Schema SCHEMA =
      Schema.parse("k INT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);
  private static final RowCodec CODEC = new RowCodec(SCHEMA);
  private static final ShardTarget SHARD =
      new ShardTarget("memory:test/t", "t", SCHEMA, SpineSpec.DEFAULT, null);

  private KeyedOneInputStreamOperatorTestHarness<String, KeyedRow, Update> harness;

  @AfterEach
  void close() throws Exception {
    harness.close();
  }

  private void open(OperatorSubtaskState state) throws Exception {
    harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new UpsertOperator(
                List.of(SHARD),
                List.of(0),
                new SlotKeys(1, 4, 128),
                new StartSettings(StartMode.REFUSE, StoreSettings.DEFAULT)),
            UpsertFunction::keyOf,
            Types.STRING);
    harness.setStateBackend(new EmbeddedRocksDBStateBackend());
    harness.setup(dev.tidemark.flink.message.UpdateSerializer.INSTANCE);
    if (state != null) {
      harness.initializeState(state);
    }
    harness.open();
  }

  private static KeyedRow row(int key, String value, long time) throws Exception {
    byte[] whole = CODEC.encode(new Object[] {key, value == null ? "" : value});
    byte[] keyBytes = Arrays.copyOf(whole, CODEC.keyLength(whole, 0, whole.length));
    return new KeyedRow(0, keyBytes, value == null ? null : whole, time, true);
  }

  private List<String> drain() {
    List<String> seen = new ArrayList<>();
    for (Object element : harness.getOutput()) {
      if (element instanceof StreamRecord<?> record) {
        Update update = (Update) record.getValue();
        Object[] values = CODEC.decode(update.row, 0, update.row.length);
        seen.add((update.diff > 0 ? "+" : "-") + values[0] + "=" + values[1] + "@" + update.time);
      }
    }
    harness.getOutput().clear();
    return seen;
  }

  private long count(InputCounts.Fate fate) {
    return (Long)
        harness
            .getEnvironment()
            .getAccumulatorRegistry()
            .getUserMap()
            .get(InputCounts.name("t", fate))
            .getLocalValue();
  }

  @Test
  void aStory() throws Exception {
    open(null);
    harness.processElement(new StreamRecord<>(row(1, "a", 10)));
    harness.processElement(new StreamRecord<>(row(1, "b", 20)));
    harness.processElement(new StreamRecord<>(row(1, "c", 15))); // late: order is arrival
    harness.processElement(new StreamRecord<>(row(1, "c", 30))); // changes nothing
    harness.processElement(new StreamRecord<>(row(2, null, 30))); // unknown
    harness.processElement(new StreamRecord<>(row(1, null, 40)));
    harness.processElement(new StreamRecord<>(row(1, null, 41))); // unknown by now
    harness.processElement(new StreamRecord<>(row(1, "d", 35))); // not before its retraction
    assertThat(drain())
        .containsExactly(
            "+1=a@10", "-1=a@20", "+1=b@20", "-1=b@20", "+1=c@20", "-1=c@40", "+1=d@40");
    assertThat(count(InputCounts.Fate.STORED)).isEqualTo(5);
    assertThat(count(InputCounts.Fate.IGNORED)).isEqualTo(3);
  }

  @Test
  void rowsAndCountsSurviveARestart() throws Exception {
    open(null);
    harness.processElement(new StreamRecord<>(row(1, "a", 10)));
    harness.processElement(new StreamRecord<>(row(2, "x", 10)));
    OperatorSubtaskState state = harness.snapshot(1, 1);
    harness.close();
    open(state);
    harness.processElement(new StreamRecord<>(row(1, "b", 5)));
    assertThat(drain()).containsExactly("-1=a@10", "+1=b@10");
    assertThat(count(InputCounts.Fate.STORED)).isEqualTo(3);
  }

  @Test
  void aDeletedKeyIsForgottenOnceTheWatermarkHasPassed() throws Exception {
    open(null);
    harness.processElement(new StreamRecord<>(row(1, "a", 10)));
    harness.processElement(new StreamRecord<>(row(1, null, 20)));
    assertThat(harness.numEventTimeTimers()).isEqualTo(1);
    harness.processWatermark(20);
    assertThat(harness.numEventTimeTimers()).isZero();
    assertThat(drain()).containsExactly("+1=a@10", "-1=a@20");
    OperatorSubtaskState state = harness.snapshot(1, 1);
    harness.processElement(new StreamRecord<>(row(1, "b", 5)));
    assertThat(drain()).as("not before its retraction").containsExactly("+1=b@20");
    harness.close();
    open(state);
    harness.processElement(new StreamRecord<>(row(1, "b", 5)));
    harness.processElement(new StreamRecord<>(row(1, "c", 25)));
    assertThat(drain()).as("nor after a restart").containsExactly("+1=b@20", "-1=b@25", "+1=c@25");
  }
}
