package dev.tidemark.flink.decode;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartFrontiers;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.pressure.SourceGate;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.RuntimeContextInitializationContextAdapters;
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
  public static final OutputTag<KeyedRow> KEYED = Intake.KEYED;

  private static final long serialVersionUID = 1L;
  private final DecodeSettings settings;
  private final List<ShardTarget> shards;
  private final SlotKeys slots;
  private final WatermarkSettings watermarkSettings;
  private final StartSettings startSettings;
  private final List<DeserializationSchema<RowData>> readers;

  private transient StartFrontiers start;
  private transient LastTimes lastTimes;
  private transient TopicPartitions partitions;
  private transient Intake intake;
  private transient RecordDecoder decoder;
  private transient Table firstTable;
  private transient InputCounts counts;
  private transient RowWatermarks watermarks;
  private transient @Nullable SourceGate gate;

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
        return new CsvDecoder(tables);
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
    lastTimes = new LastTimes(context.getOperatorStateStore());
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
    partitions = new TopicPartitions(getRuntimeContext());
    gate = SourceGate.acquire(getRuntimeContext()).orElse(null);
    watermarks =
        new RowWatermarks(
            watermarkSettings,
            gate == null ? SystemClock.getInstance() : gate.activityClock(),
            getProcessingTimeService(),
            output,
            getExecutionConfig().getAutoWatermarkInterval());
    Intake.Means means =
        new Intake.Means(
            counts, start, lastTimes, partitions, watermarks, output, getProcessingTimeService());
    intake = new Intake(settings.limits(), slots, means);
    getMetricGroup().addGroup("tidemark").gauge("silentPartitions", watermarks::silent);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    counts.snapshot();
    lastTimes.snapshot();
  }

  @Override
  public void processElement(StreamRecord<RawRecord> element) throws Exception {
    RawRecord record = element.getValue();
    if (record.mark != RawRecord.Mark.NONE) {
      mark(record);
      return;
    }
    counts.read();
    if (record.topic != null) {
      partitions.read(record.topic, record.partition);
    }
    if (record.flaw != null) {
      intake.reject(
          record, new Decoded.Failure(firstTable, "", record.flaw, record.timestampMillis));
      return;
    }
    Decoded decoded = decoder.decode(record);
    if (decoded instanceof Decoded.Rows rows) {
      Decoded.Failure failure = intake.accept(record, rows);
      if (failure != null) {
        intake.reject(record, failure);
      }
    } else if (decoded instanceof Decoded.Failure failure) {
      intake.reject(record, failure);
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
      partitions.assigned(record.partition);
    } else {
      watermarks.onOver(record.partition);
      lastTimes.over(record.partition);
      partitions.over(record.partition);
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
