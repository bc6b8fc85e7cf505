package dev.tidemark.flink.upsert;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last row of each key, and turns what is set or deleted into the retraction of the old
 * row and the addition of the new one, both at {@code max(row time, last time of the key)}. Rows of
 * one key follow each other in the order in which they arrive, never by their times. A row equal to
 * the last one and the delete of an unknown key change nothing and are counted as ignored.
 *
 * <p>State by key: the last time, 8 bytes, and behind it the row; a deleted key keeps its time
 * alone until the watermark has passed it, and is then one of the {@link ForgottenKeys}.
 */
public final class UpsertFunction extends KeyedProcessFunction<String, KeyedRow, Update>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private final List<ShardTarget> shards;
  private final SlotKeys slots;
  private transient ValueState<byte[]> lastState;
  private transient InputCounts counts;
  private transient ForgottenKeys forgotten;

  /** For the job's shards. */
  public UpsertFunction(List<ShardTarget> shards, SlotKeys slots) {
    this.shards = new ArrayList<>(shards);
    this.slots = slots;
  }

  /** The key by which rows are distributed and kept: the shard and the key's bytes. */
  public static String keyOf(KeyedRow row) {
    return row.shard() + ":" + new String(row.key(), StandardCharsets.ISO_8859_1);
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    List<String> names = shards.stream().map(ShardTarget::name).toList();
    counts =
        new InputCounts(
            names,
            getRuntimeContext(),
            getRuntimeContext().getMetricGroup(),
            context.getOperatorStateStore());
    forgotten = new ForgottenKeys(getRuntimeContext(), context.getKeyedStateStore());
    lastState =
        context
            .getKeyedStateStore()
            .getState(
                new ValueStateDescriptor<>(
                    "last", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
  }

  /** The deleted keys that are not in state any more. */
  ForgottenKeys forgotten() {
    return forgotten;
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    counts.snapshot();
  }

  /** Takes a row that the shard has as the last one of the current key. */
  void keep(byte[] row, long time) throws IOException {
    lastState.update(entry(time, row));
  }

  @Override
  public void processElement(KeyedRow row, Context context, Collector<Update> out)
      throws Exception {
    byte @Nullable [] last = lastState.value();
    byte @Nullable [] lastRow = last == null ? null : rowOf(last);
    boolean changed = !Arrays.equals(lastRow, row.row());
    if (row.counted()) {
      counts.count(row.shard(), changed ? Fate.STORED : Fate.IGNORED);
    }
    if (!changed) {
      return;
    }
    long time =
        last == null
            ? forgotten.atLeast(context.getCurrentKey(), row.time())
            : Math.max(row.time(), timeOf(last));
    int keyLength = row.key().length;
    if (lastRow != null) {
      int slotKey = slots.slotKey(row.shard(), lastRow, keyLength);
      out.collect(new Update(row.shard(), slotKey, false, lastRow, time, -1));
    }
    byte[] next = row.row();
    if (next == null) {
      lastState.update(entry(time, new byte[0]));
      context.timerService().registerEventTimeTimer(time);
    } else {
      int slotKey = slots.slotKey(row.shard(), next, keyLength);
      out.collect(new Update(row.shard(), slotKey, false, next, time, 1));
      lastState.update(entry(time, next));
    }
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<Update> out)
      throws Exception {
    byte @Nullable [] last = lastState.value();
    if (last != null && rowOf(last) == null && timeOf(last) <= timestamp) {
      forgotten.forget(context.getCurrentKey(), timeOf(last));
      lastState.clear();
    }
  }

  private static byte[] entry(long time, byte[] row) {
    return ByteBuffer.allocate(Long.BYTES + row.length).putLong(time).put(row).array();
  }

  private static long timeOf(byte[] entry) {
    return ByteBuffer.wrap(entry).getLong();
  }

  /** The row; null: the key is deleted. An encoded row has at least its key's bytes. */
  private static byte @Nullable [] rowOf(byte[] entry) {
    return entry.length == Long.BYTES ? null : Arrays.copyOfRange(entry, Long.BYTES, entry.length);
  }
}
