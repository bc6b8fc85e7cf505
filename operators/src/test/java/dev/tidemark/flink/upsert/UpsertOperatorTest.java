package dev.tidemark.flink.upsert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.KeyBuckets;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.SpineSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rows of keys become retractions and additions. */
class UpsertOperatorTest {
  private static final Schema SCHEMA =
      Schema.parse("k INT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);
  private static final RowCodec CODEC = new RowCodec(SCHEMA);
  private static final ShardTarget SHARD =
      new ShardTarget("memory:test/t", "t", SCHEMA, SpineSpec.DEFAULT, null);

  private KeyedOneInputStreamOperatorTestHarness<Integer, KeyedRow, Update> harness;

  @AfterEach
  void close() throws Exception {
    if (harness != null) {
      harness.close();
    }
  }

  private static final KeyBuckets BUCKETS = new KeyBuckets(1, 128);
  private static final RowCodec ERRORS = new RowCodec(ErrorRows.SCHEMA);

  private static UpsertSettings settings(boolean errorsFail) {
    return new UpsertSettings(
        List.of(SHARD),
        List.of(0),
        new SlotKeys(1, 4, 128),
        BUCKETS,
        StartSettings.REFUSE,
        errorsFail);
  }

  private void open(OperatorSubtaskState state) throws Exception {
    open(state, false);
  }

  private void open(OperatorSubtaskState state, boolean errorsFail) throws Exception {
    harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new UpsertOperator(settings(errorsFail)), BUCKETS, Types.INT, 128, 1, 0);
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
        if (update.error) {
          seen.add("!" + ERRORS.decode(update.row, 0, update.row.length)[0] + "@" + update.time);
          continue;
        }
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

  /** A row without v, which is what it was. */
  private static KeyedRow without(int key, long time) throws Exception {
    byte[] whole = CODEC.encode(new Object[] {key, null});
    byte[] keyBytes = Arrays.copyOf(whole, CODEC.keyLength(whole, 0, whole.length));
    byte[] error = ERRORS.encode(new Object[] {"no v", new byte[0], "test:1", "t"});
    KeyedRow.Patch patch = new KeyedRow.Patch(new int[] {1}, error);
    return new KeyedRow(0, keyBytes, whole, time, true, false, patch, 0);
  }

  private void truncate(long time) throws Exception {
    for (int bucket = 0; bucket < BUCKETS.buckets(); bucket++) {
      harness.processElement(new StreamRecord<>(KeyedRow.truncate(0, bucket, time)));
    }
  }

  @Test
  void missingValuesAreThoseOfTheLastRow() throws Exception {
    open(null);
    harness.processElement(new StreamRecord<>(row(1, "a", 10)));
    harness.processElement(new StreamRecord<>(without(1, 20))); // so nothing changes
    harness.processElement(new StreamRecord<>(without(2, 30)));
    harness.processElement(new StreamRecord<>(row(1, null, 40)));
    harness.processElement(new StreamRecord<>(without(1, 50)));
    assertThat(drain()).containsExactly("+1=a@10", "!no v@30", "-1=a@40", "!no v@50");
    assertThat(count(InputCounts.Fate.STORED)).isEqualTo(2);
    assertThat(count(InputCounts.Fate.IGNORED)).isEqualTo(1);
    assertThat(count(InputCounts.Fate.ERROR)).isEqualTo(2);
  }

  @Test
  void missingValuesThatNobodyKnowsStopAJobThatPutsUpWithNoErrors() throws Exception {
    open(null, true);
    assertThatThrownBy(() -> harness.processElement(new StreamRecord<>(without(2, 30))))
        .isInstanceOf(StopForGoodException.class)
        .hasMessage("test:1: no v (errors is set to fail)");
  }

  @Test
  void aTruncateTakesAwayWhatIsThereAndNothingElse() throws Exception {
    open(null);
    for (int key = 0; key < 300; key++) {
      harness.processElement(new StreamRecord<>(row(key, "a", 10)));
    }
    harness.processElement(new StreamRecord<>(row(7, null, 15)));
    harness.processElement(new StreamRecord<>(row(8, "b", 30)));
    drain();
    OperatorSubtaskState state = harness.snapshot(1, 1);
    harness.close();
    open(state);
    truncate(20);
    List<String> gone = drain();
    assertThat(gone)
        .hasSize(299)
        .contains("-0=a@20", "-299=a@20", "-8=b@30")
        .doesNotContain("-7=a@20");
    truncate(40);
    assertThat(drain()).isEmpty();
    harness.processElement(new StreamRecord<>(row(8, "c", 25)));
    assertThat(drain()).containsExactly("+8=c@30");
    harness.processWatermark(40);
    assertThat(harness.numEventTimeTimers()).isZero();
  }

  @Test
  void eachKeyGroupHasOneBucketOfEachShard() {
    for (int groups : new int[] {1, 7, 128, 4096}) {
      KeyBuckets buckets = new KeyBuckets(3, groups);
      boolean[] seen = new boolean[groups];
      for (int bucket = 0; bucket < groups; bucket++) {
        int key = buckets.getKey(KeyedRow.truncate(2, bucket, 0));
        seen[KeyGroupRangeAssignment.assignToKeyGroup(key, groups)] = true;
        assertThat(SlotKeys.shardOf(key)).isEqualTo(2);
      }
      assertThat(seen).doesNotContain(false);
    }
  }

  @Test
  void rowsSavedInAnOlderSchemaAreThoseOfTheNewOne() throws Exception {
    open(null);
    harness.processElement(new StreamRecord<>(row(1, "a", 10)));
    harness.processElement(new StreamRecord<>(row(2, "b", 10)));
    harness.processElement(new StreamRecord<>(row(2, null, 12)));
    OperatorSubtaskState state = harness.snapshot(1, 1);
    KeyedRow onItsWay = row(3, "c", 15);
    harness.close();

    Schema wider =
        Schema.parse("k INT NOT NULL, added BIGINT, v STRING, PRIMARY KEY (k) NOT ENFORCED", 1);
    RowCodec codec = new RowCodec(wider);
    openWith(wider, state);
    byte[] next = codec.encode(new Object[] {1, 5L, "a"});
    byte[] key = Arrays.copyOf(next, codec.keyLength(next, 0, next.length));
    harness.processElement(new StreamRecord<>(new KeyedRow(0, key, next, 20, true)));
    harness.processElement(
        new StreamRecord<>(
            new KeyedRow(
                0,
                onItsWay.key(),
                onItsWay.row(),
                onItsWay.time(),
                true,
                false,
                null,
                KeyedRow.form(SCHEMA))));
    List<String> seen = new ArrayList<>();
    for (Object element : harness.getOutput()) {
      Update update = (Update) ((StreamRecord<?>) element).getValue();
      seen.add(update.diff + Arrays.toString(codec.decode(update.row, 0, update.row.length)));
    }
    assertThat(seen).containsExactly("-1[1, null, a]", "1[1, 5, a]", "1[3, null, c]");
    OperatorSubtaskState after = harness.snapshot(2, 2);
    harness.close();

    assertThatThrownBy(
            () ->
                openWith(
                    Schema.parse("k INT NOT NULL, v INT, PRIMARY KEY (k) NOT ENFORCED", 1), after))
        .hasStackTraceContaining("column v can't become INT from STRING");
  }

  private void openWith(Schema schema, OperatorSubtaskState state) throws Exception {
    ShardTarget shard = new ShardTarget("memory:test/t", "t", schema, SpineSpec.DEFAULT, null);
    UpsertSettings settings =
        new UpsertSettings(
            List.of(shard),
            List.of(0),
            new SlotKeys(1, 4, 128),
            BUCKETS,
            StartSettings.REFUSE,
            false);
    harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new UpsertOperator(settings), BUCKETS, Types.INT, 128, 1, 0);
    harness.setStateBackend(new EmbeddedRocksDBStateBackend());
    harness.setup(dev.tidemark.flink.message.UpdateSerializer.INSTANCE);
    harness.initializeState(state);
    harness.open();
  }
}
