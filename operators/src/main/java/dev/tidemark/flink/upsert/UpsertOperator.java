package dev.tidemark.flink.upsert;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.StateSchemas;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the last row of each key, and turns what is set or deleted into the retraction of the old
 * row and the addition of the new one, both at {@code max(row time, last time of the key)}. Rows of
 * one key follow each other in the order in which they arrive, never by their times. A row equal to
 * the last one and the delete of an unknown key change nothing and are counted as ignored.
 *
 * <p>Values that a record leaves out because they haven't changed are those of the key's last row;
 * where there is none, the record is an error. A truncate retracts what its bucket holds.
 *
 * <p>Where a job without state goes on with shards that have data, each subtask first reads the
 * shards' snapshots, under holds, and keeps the last rows of its own keys: what is retracted must
 * be what is there.
 *
 * <p>State by bucket ({@link dev.tidemark.flink.KeyBuckets}): of each key a {@link LastRow}; that
 * of a deleted key stays until the watermark has passed its time. Then only the latest such time of
 * the bucket is kept: no row of a key that isn't known comes before it, for the retraction of the
 * key's last row may still be on its way into the shard, since a late row goes by what mint has
 * described, and that lags behind the watermark.
 */
public final class UpsertOperator extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<KeyedRow, Update>, Triggerable<Integer, String> {
  private static final long serialVersionUID = 1L;

  private static final String LAST_ROWS = "last-rows-1";

  private final UpsertSettings settings;
  private transient MapState<String, byte[]> lastRows;
  private transient InternalTimerService<String> deletions;
  private transient ValueState<Long> forgotten;

  /** The same by bucket, of those met so far. */
  private transient Map<Integer, Long> forgottenTimes;

  private transient InputCounts counts;
  private transient List<RowCodec> codecs;
  private transient RowCodec errorCodec;
  private transient StateSchemas schemas;
  private transient boolean restored;

  /** With these settings. */
  public UpsertOperator(UpsertSettings settings) {
    this.settings = settings;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    restored = context.isRestored();
    List<String> names = settings.shards().stream().map(ShardTarget::name).toList();
    counts =
        new InputCounts(
            names, getRuntimeContext(), getMetricGroup(), context.getOperatorStateStore());
    lastRows =
        context
            .getKeyedStateStore()
            .getMapState(
                new MapStateDescriptor<>(
                    LAST_ROWS,
                    Types.STRING,
                    PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    forgotten =
        context
            .getKeyedStateStore()
            .getState(new ValueStateDescriptor<>("forgotten-2", Types.LONG));
    forgottenTimes = new HashMap<>();
    schemas = StateSchemas.of(context, settings.shards());
  }

  @Override
  public void open() throws Exception {
    super.open();
    deletions = getInternalTimerService("deletions", StringSerializer.INSTANCE, this);
    errorCodec = new RowCodec(ErrorRows.SCHEMA);
    codecs = new ArrayList<>();
    for (ShardTarget shard : settings.shards()) {
      codecs.add(new RowCodec(shard.schema()));
    }
    changeForms();
    if (!restored && settings.start().mode() != StartMode.REFUSE) {
      ShardFill fill = new ShardFill(settings, getRuntimeContext().getTaskInfo(), this::keep);
      for (int shard : settings.upserts()) {
        fill.run(shard);
      }
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    counts.snapshot();
  }

  /** Brings the rows of shards whose schema has changed since the state was saved into the new. */
  private void changeForms() throws Exception {
    if (settings.upserts().stream().noneMatch(shard -> schemas.former(shard) != null)) {
      return;
    }
    List<Integer> buckets;
    try (var found =
        this.<Integer>getKeyedStateBackend().getKeys(LAST_ROWS, VoidNamespace.INSTANCE)) {
      buckets = found.distinct().toList();
    }
    for (int bucket : buckets) {
      StateSchemas.Former former = schemas.former(SlotKeys.shardOf(bucket));
      if (former != null) {
        setCurrentKey(bucket);
        for (Map.Entry<String, byte[]> entry : lastRows.entries()) {
          LastRow last = LastRow.of(entry.getValue());
          byte[] row = last.row();
          if (row != null) {
            byte[] changed = former.change().apply(row, 0, row.length);
            entry.setValue(new LastRow(last.time(), changed).entry());
          }
        }
      }
    }
  }

  /** A row that was on its way to us, in the schema of then, when the state was saved. */
  private KeyedRow inOurForm(KeyedRow row) throws InvalidRowException {
    StateSchemas.Former former = schemas.former(row.shard());
    byte[] bytes = row.row();
    if (former == null || row.form() != former.form() || bytes == null) {
      return row;
    }
    KeyedRow.Patch patch = row.patch();
    if (patch != null) {
      int[] columns =
          Arrays.stream(patch.columns()).map(former.change()::place).filter(c -> c >= 0).toArray();
      patch = columns.length == 0 ? null : new KeyedRow.Patch(columns, patch.error());
    }
    byte[] changed = former.change().apply(bytes, 0, bytes.length);
    return new KeyedRow(
        row.shard(), row.key(), changed, row.time(), row.counted(), false, patch, 0);
  }

  /** Takes a row that the shard has as the last one of its key. */
  private void keep(int bucketKey, byte[] key, LastRow last) throws Exception {
    setCurrentKey(bucketKey);
    lastRows.put(text(key), last.entry());
  }

  /** The bytes of a key as a text, which Flink's state can compare. */
  private static String text(byte[] key) {
    return new String(key, StandardCharsets.ISO_8859_1);
  }

  @Override
  public void processElement(StreamRecord<KeyedRow> element) throws Exception {
    KeyedRow row = inOurForm(element.getValue());
    if (row.truncate()) {
      truncate(row);
      return;
    }
    String key = text(row.key());
    byte[] entry = lastRows.get(key);
    LastRow last = entry == null ? null : LastRow.of(entry);
    byte[] old = last == null ? null : last.row();
    byte[] next = row.row();
    KeyedRow.Patch patch = row.patch();
    if (patch != null && next != null) {
      if (old == null) {
        reject(row, patch.error());
        return;
      }
      next = patched(codecs.get(row.shard()), next, old, patch.columns());
    }
    boolean changed = !Arrays.equals(old, next);
    count(row, changed ? Fate.STORED : Fate.IGNORED);
    if (changed) {
      long time = Math.max(row.time(), last == null ? forgottenTime() : last.time());
      change(row.shard(), row.key().length, old, next, time, row.counted());
      lastRows.put(key, new LastRow(time, next).entry());
      if (next == null) {
        deletions.registerEventTimeTimer(key, time);
      }
    }
  }

  /** The latest time at which a key of the current bucket was deleted that is no more in state. */
  private long forgottenTime() throws Exception {
    Integer bucket = (Integer) getCurrentKey();
    Long known = forgottenTimes.get(bucket);
    if (known == null) {
      known = forgotten.value();
      known = known == null ? Long.MIN_VALUE : known;
      forgottenTimes.put(bucket, known);
    }
    return known;
  }

  private void forget(String key, long time) throws Exception {
    lastRows.remove(key);
    if (time > forgottenTime()) {
      forgottenTimes.put((Integer) getCurrentKey(), time);
      forgotten.update(time);
    }
  }

  /** The row with the values that it lacks. */
  private static byte[] patched(RowCodec codec, byte[] row, byte[] last, int[] columns) {
    @Nullable Object[] values = codec.decode(row, 0, row.length);
    @Nullable Object[] known = codec.decode(last, 0, last.length);
    for (int column : columns) {
      values[column] = known[column];
    }
    try {
      return codec.encode(values);
    } catch (InvalidRowException e) {
      throw new IllegalStateException("values that were stored don't fit their schema", e);
    }
  }

  private void count(KeyedRow row, Fate fate) {
    if (row.counted()) {
      counts.count(row.shard(), fate);
    }
  }

  private void change(
      int shard,
      int keyLength,
      byte @Nullable [] old,
      byte @Nullable [] next,
      long time,
      boolean counted) {
    if (old != null) {
      emit(update(shard, keyLength, old, time, -1), counted && next == null);
    }
    if (next != null) {
      emit(update(shard, keyLength, next, time, 1), counted);
    }
  }

  private Update update(int shard, int keyLength, byte[] row, long time, long diff) {
    int slotKey = settings.slots().slotKey(shard, row, keyLength);
    return new Update(shard, slotKey, false, row, time, diff);
  }

  /** Of the updates of a record one counts, or none where it was counted when it was read. */
  private void emit(Update update, boolean counted) {
    update.companion = !counted;
    output.collect(new StreamRecord<>(update));
  }

  private void truncate(KeyedRow all) throws Exception {
    for (Map.Entry<String, byte[]> entry : lastRows.entries()) {
      LastRow last = LastRow.of(entry.getValue());
      if (last.row() != null) {
        long time = Math.max(all.time(), last.time());
        change(all.shard(), entry.getKey().length(), last.row(), null, time, false);
        entry.setValue(new LastRow(time, null).entry());
        deletions.registerEventTimeTimer(entry.getKey(), time);
      }
    }
  }

  private void reject(KeyedRow row, byte[] error) {
    if (settings.errorsFail()) {
      @Nullable Object[] values = errorCodec.decode(error, 0, error.length);
      throw new StopForGoodException(values[2] + ": " + values[0] + " (errors is set to fail)");
    }
    int slotKey = settings.slots().slotKey(row.shard(), error, error.length);
    emit(new Update(row.shard(), slotKey, true, error, row.time(), 1), row.counted());
    count(row, Fate.ERROR);
  }

  @Override
  public void onEventTime(InternalTimer<Integer, String> timer) throws Exception {
    byte[] entry = lastRows.get(timer.getNamespace());
    if (entry != null) {
      LastRow last = LastRow.of(entry);
      if (last.row() == null && last.time() <= timer.getTimestamp()) {
        forget(timer.getNamespace(), last.time());
      }
    }
  }

  @Override
  public void onProcessingTime(InternalTimer<Integer, String> timer) {
    // none is registered
  }
}
