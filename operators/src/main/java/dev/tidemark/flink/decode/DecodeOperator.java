package dev.tidemark.flink.decode;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartFrontiers;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.pressure.SourceGate;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.RuntimeContextInitializationContextAdapters;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.clock.SystemClock;
import org.jspecify.annotations.Nullable;

/**
 * Turns raw records into updates: rows of append and changelog tables and all error rows on the
 * main output, rows of upsert tables on {@link #KEYED}. Watermarks follow the rows' times, on both
 * outputs alike, whatever comes on which.
 *
 * <p>A job that began without state on shards with data weighs each row here, by {@link
 * StartFrontiers}: what is there already is replayed and goes no further. An error row without a
 * time of its own is taken to be as late as the latest row before it.
 *
 * <p>State, operator lists: the counts (see {@link InputCounts}), and the last time of each table
 * and partition, below which no later row of it may fall where order matters. Broadcast: where the
 * job began.
 */
public final class DecodeOperator extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<RawRecord, Update> {
  /** The rows of upsert tables. */
  public static final OutputTag<KeyedRow> KEYED = new OutputTag<>("keyed", KeyedRow.TYPE);

  private static final long serialVersionUID = 1L;
  private static final ListStateDescriptor<Tuple3<Integer, String, Long>> LAST_TIMES =
      new ListStateDescriptor<>(
          "last-times", TypeInformation.of(new TypeHint<Tuple3<Integer, String, Long>>() {}));

  private static final byte[] NOTHING = new byte[0];

  private final DecodeSettings settings;
  private final List<ShardTarget> shards;
  private final SlotKeys slots;
  private final WatermarkSettings watermarkSettings;
  private final StartSettings startSettings;
  private final List<DeserializationSchema<RowData>> readers;

  private transient int buckets;
  private transient StartFrontiers start;
  private transient RecordDecoder decoder;
  private transient Table firstTable;
  private transient RowCodec errorCodec;
  private transient InputCounts counts;
  private transient RowWatermarks watermarks;
  private transient @Nullable SourceGate gate;
  private transient ListState<Tuple3<Integer, String, Long>> lastTimesState;
  private transient Map<LastTimeKey, long[]> lastTimes;

  private record LastTimeKey(int shard, String partition) {}

  /**
   * A decoder.
   *
   * @throws IllegalArgumentException naming the mend, when settings and schemas don't go together
   */
  public DecodeOperator(
      DecodeSettings settings,
      List<ShardTarget> shards,
      SlotKeys slots,
      WatermarkSettings watermarks,
      StartSettings startSettings) {
    this.settings = settings;
    this.shards = new ArrayList<>(shards);
    this.slots = slots;
    this.watermarkSettings = watermarks;
    this.startSettings = startSettings;
    Tables tables = new Tables(settings.tables(), shards);
    this.readers = readers(settings, tables);
    decoder(tables); // refuses what can't be
  }

  /** What reads the rows of each table, where that is a format of Flink's. */
  private static List<DeserializationSchema<RowData>> readers(
      DecodeSettings settings, Tables tables) {
    List<DeserializationSchema<RowData>> readers = new ArrayList<>();
    if (settings.format() == DecodeSettings.Format.FLINK) {
      FlinkFormats.checkMatch(tables);
      for (Table table : tables.all()) {
        readers.add(FlinkFormats.reader(settings.flink(), table.schema, table.name));
      }
    }
    return readers;
  }

  private RecordDecoder decoder(Tables tables) {
    switch (settings.format()) {
      case JSON -> {
        return new JsonDecoder(tables);
      }
      case CSV -> {
        return new CsvDecoder(tables, settings.csvNull());
      }
      case DEBEZIUM_JSON -> {
        return new DebeziumDecoder(settings.debezium(), tables);
      }
      case FLINK -> {
        return new FlinkDecoder(tables, settings.flink().name(), readers);
      }
    }
    throw new AssertionError(settings.format());
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    List<String> names = shards.stream().map(ShardTarget::name).toList();
    counts =
        new InputCounts(
            names, getRuntimeContext(), getMetricGroup(), context.getOperatorStateStore());
    start = StartFrontiers.of(context, shards, startSettings);
    lastTimesState = context.getOperatorStateStore().getListState(LAST_TIMES);
    lastTimes = new HashMap<>();
    for (Tuple3<Integer, String, Long> entry : lastTimesState.get()) {
      LastTimeKey key = new LastTimeKey(entry.f0, entry.f1);
      lastTimes.merge(key, new long[] {entry.f2}, (a, b) -> new long[] {Math.max(a[0], b[0])});
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    Tables tables = new Tables(settings.tables(), shards);
    for (DeserializationSchema<RowData> reader : readers) {
      reader.open(
          RuntimeContextInitializationContextAdapters.deserializationAdapter(getRuntimeContext()));
    }
    decoder = decoder(tables);
    firstTable = tables.first();
    buckets = slots.maxParallelism();
    errorCodec = new RowCodec(ErrorRows.SCHEMA);
    gate = SourceGate.acquire(getRuntimeContext()).orElse(null);
    watermarks =
        new RowWatermarks(
            watermarkSettings,
            gate == null ? SystemClock.getInstance() : gate.activityClock(),
            getProcessingTimeService(),
            output,
            getExecutionConfig().getAutoWatermarkInterval());
    getMetricGroup().addGroup("tidemark").gauge("silentPartitions", watermarks::silent);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    counts.snapshot();
    lastTimesState.clear();
    for (Map.Entry<LastTimeKey, long[]> entry : lastTimes.entrySet()) {
      lastTimesState.add(
          Tuple3.of(entry.getKey().shard(), entry.getKey().partition(), entry.getValue()[0]));
    }
  }

  @Override
  public void processElement(StreamRecord<RawRecord> element) throws Exception {
    RawRecord record = element.getValue();
    if (record.mark != RawRecord.Mark.NONE) {
      mark(record);
      return;
    }
    counts.read();
    if (record.flaw != null) {
      reject(record, new Decoded.Failure(firstTable, "", record.flaw, record.timestampMillis));
      return;
    }
    Decoded decoded = decoder.decode(record);
    if (decoded instanceof Decoded.Rows rows) {
      accept(record, rows);
    } else if (decoded instanceof Decoded.Failure failure) {
      reject(record, failure);
    } else if (decoded instanceof Decoded.Unmatched unmatched) {
      if (settings.unmatchedFails()) {
        throw new BadRecordException(
            record.origin()
                + ": no shard matches "
                + unmatched.table()
                + "; add it to tables, or set unmatched to ignore");
      }
      counts.unmatched(unmatched.table());
    } else {
      counts.ignored();
    }
  }

  private void mark(RawRecord record) {
    if (record.mark == RawRecord.Mark.ASSIGNED) {
      watermarks.onAssigned(record.partition);
    } else {
      watermarks.onOver(record.partition);
      lastTimes.keySet().removeIf(key -> key.partition().equals(record.partition));
    }
  }

  private void accept(RawRecord record, Decoded.Rows rows) {
    Table table = rows.table();
    long time = rows.time();
    String flaw = timeFlaw(time);
    if (flaw != null) {
      reject(record, new Decoded.Failure(table, table.name, flaw, RawRecord.NO_TIMESTAMP));
      return;
    }
    List<byte[]> encoded = new ArrayList<>(rows.changes().size());
    try {
      for (Change change : rows.changes()) {
        encoded.add(encode(table, change));
      }
    } catch (InvalidRowException e) {
      String reason = String.valueOf(e.getMessage());
      reject(record, new Decoded.Failure(table, table.name, reason, time));
      return;
    }
    int shard = table.mapping.shard();
    if (rows.changes().get(0).action() == Action.TRUNCATE) {
      String other = otherPartition(shard, record.partition);
      if (other != null) {
        String reason =
            "truncate of "
                + table.name
                + ", whose changes come in several partitions, "
                + other
                + " and "
                + record.partition
                + ": which rows it comes after can't be known; give the table's topic one"
                + " partition";
        reject(record, new Decoded.Failure(table, table.name, reason, time));
        return;
      }
    }
    if (rows.ordered()) {
      time = atLeastLast(shard, record.partition, time);
    }
    if (rows.unknownColumns() > 0) {
      counts.unknownColumns(rows.unknownColumns());
    }
    if (start.isReplayed(shard, time)) {
      watermarks.onRow(record.partition, time);
      counts.count(shard, Fate.REPLAYED);
      return;
    }
    time = start.atLeastStart(shard, time);
    Decoded.Failure failure = rows.failure();
    for (int i = 0; i < encoded.size(); i++) {
      boolean counted = i == encoded.size() - 1 && failure == null;
      emit(record, table, rows.changes().get(i), encoded.get(i), time, counted);
    }
    watermarks.onRow(record.partition, time);
    if (failure != null) {
      reject(record, failure);
    } else if (table.mapping.envelope() != Envelope.UPSERT) {
      counts.count(shard, Fate.STORED); // else upsert knows what becomes of it
    }
  }

  private static byte[] encode(Table table, Change change) throws InvalidRowException {
    return switch (change.action()) {
      case UPDATE -> table.codec.encode(change.values());
      case SET ->
          change.missing() == null
              ? table.codec.encode(change.values())
              : table.encodePart(change.values());
      case DELETE -> table.encodeKey(change.values());
      case TRUNCATE -> NOTHING;
    };
  }

  private void emit(
      RawRecord record, Table table, Change change, byte[] bytes, long time, boolean counted) {
    int shard = table.mapping.shard();
    if (change.action() == Action.TRUNCATE) {
      for (int bucket = 0; bucket < buckets; bucket++) {
        output.collect(KEYED, new StreamRecord<>(KeyedRow.truncate(shard, bucket, time)));
      }
      counts.count(shard, Fate.STORED);
      return;
    }
    if (change.action() == Action.DELETE) {
      KeyedRow delete = new KeyedRow(shard, bytes, null, time, counted, false, null, table.form);
      output.collect(KEYED, new StreamRecord<>(delete));
      return;
    }
    int keyLength = table.codec.keyLength(bytes, 0, bytes.length);
    if (change.action() == Action.SET) {
      byte[] key = Arrays.copyOf(bytes, keyLength);
      Decoded.MissingValues missing = change.missing();
      KeyedRow.Patch patch =
          missing == null
              ? null
              : new KeyedRow.Patch(missing.columns(), errorRow(record, missing.failure()));
      KeyedRow set = new KeyedRow(shard, key, bytes, time, counted, false, patch, table.form);
      output.collect(KEYED, new StreamRecord<>(set));
      return;
    }
    int slotKey = slots.slotKey(shard, bytes, keyLength);
    Update update = new Update(shard, slotKey, false, bytes, time, change.diff());
    update.companion = !counted;
    output.collect(new StreamRecord<>(update));
  }

  /** Another partition in which rows of a shard have come; null: none is known. */
  private @Nullable String otherPartition(int shard, String partition) {
    for (LastTimeKey key : lastTimes.keySet()) {
      if (key.shard() == shard && !key.partition().equals(partition)) {
        return key.partition();
      }
    }
    return null;
  }

  private long atLeastLast(int shard, String partition, long time) {
    long[] last =
        lastTimes.computeIfAbsent(new LastTimeKey(shard, partition), key -> new long[] {time});
    last[0] = Math.max(last[0], time);
    return last[0];
  }

  /** Why a time can't be; null: it can. */
  private @Nullable String timeFlaw(long time) {
    if (time == RawRecord.NO_TIMESTAMP) {
      return "no time: name the column that holds it (source.event-time)";
    }
    if (time == Long.MAX_VALUE || time > settings.maxTimeMillis()) {
      return "time " + time + " is later than allowed";
    }
    long ahead = settings.maxAheadMillis();
    if (ahead != Long.MAX_VALUE) {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      if (time > now + ahead && now + ahead > now) {
        return "time " + time + " is too far ahead of the clock (time.max-ahead)";
      }
    }
    return null;
  }

  private void reject(RawRecord record, Decoded.Failure failure) {
    if (settings.errorsFail()) {
      throw new BadRecordException(
          record.origin() + ": " + failure.reason() + " (errors is set to fail)");
    }
    int shard = failure.table().mapping.shard();
    byte[] row = errorRow(record, failure);
    boolean sane = timeFlaw(failure.time()) == null;
    if (start.isReplayed(shard, sane ? failure.time() : watermarks.latest())) {
      if (sane) {
        watermarks.onRow(record.partition, failure.time());
      }
      counts.count(shard, Fate.REPLAYED);
      return;
    }
    long time = start.atLeastStart(shard, sane ? failure.time() : Long.MIN_VALUE);
    int slotKey = slots.slotKey(shard, row, errorCodec.keyLength(row, 0, row.length));
    output.collect(new StreamRecord<>(new Update(shard, slotKey, true, row, time, 1)));
    if (sane) {
      watermarks.onRow(record.partition, time);
    }
    counts.count(shard, Fate.ERROR);
  }

  private byte[] errorRow(RawRecord record, Decoded.Failure failure) {
    byte[] raw = record.value == null ? record.key : record.value;
    if (raw != null && raw.length > ErrorRows.MAX_RAW_BYTES) {
      raw = Arrays.copyOf(raw, ErrorRows.MAX_RAW_BYTES);
    }
    try {
      return errorCodec.encode(
          new @Nullable Object[] {
            failure.reason(), raw == null ? NOTHING : raw, record.origin(), failure.tableName()
          });
    } catch (InvalidRowException e) {
      throw new IllegalStateException("an error row doesn't fit its own schema", e);
    }
  }

  /** Only the end of the input is passed on: all else follows the rows. */
  @Override
  public void processWatermark(Watermark mark) {
    if (mark.getTimestamp() == Long.MAX_VALUE) {
      watermarks.onEnd();
    }
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {
    // idleness is told by the rows, too
  }

  @Override
  public void close() throws Exception {
    if (watermarks != null) {
      watermarks.close();
    }
    if (gate != null) {
      gate.close();
      gate = null;
    }
    super.close();
  }
}
