package dev.tidemark.flink.decode;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartFrontiers;
import dev.tidemark.flink.decode.Decoded.Action;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * What a record says, made updates: each record of a shard is stored, replayed or an error, and
 * counted as one of these. Rows of append and changelog tables and all error rows go to the main
 * output, rows of upsert tables to {@link #KEYED}.
 */
final class Intake {
  /** The rows of upsert tables. */
  static final OutputTag<KeyedRow> KEYED = new OutputTag<>("keyed", KeyedRow.TYPE);

  private static final byte[] NOTHING = new byte[0];

  private final Limits limits;
  private final SlotKeys slots;
  private final Means means;
  private final RowCodec errorCodec = new RowCodec(ErrorRows.SCHEMA);

  /**
   * What a record may not pass.
   *
   * @param errorsFail whether an error fails the job; else it is kept as an error row
   * @param maxTimeMillis rows later than this are errors
   * @param maxAheadMillis rows later than the clock by more than this are errors; {@code
   *     Long.MAX_VALUE}: no limit
   */
  record Limits(boolean errorsFail, long maxTimeMillis, long maxAheadMillis) {}

  /**
   * What an operator lends.
   *
   * @param counts counts records by fate
   * @param start where a job without state began
   * @param lastTimes the last time of each partition, for what must stay in order
   * @param partitions which partitions a topic has; null: there are no topics
   * @param times hears of rows' times
   * @param output where updates go
   * @param clock the wall clock
   */
  record Means(
      InputCounts counts,
      StartFrontiers start,
      LastTimes lastTimes,
      @Nullable TopicPartitions partitions,
      TimeListener times,
      Output<StreamRecord<Update>> output,
      ProcessingTimeService clock) {}

  /** Who hears of the times of rows, in milliseconds. */
  interface TimeListener {
    /** A row of a partition, or something else with a sane time, has this time. */
    void onRow(String partition, long time);

    /** The latest of these; {@code Long.MIN_VALUE}: none yet. */
    long latest();
  }

  Intake(Limits limits, SlotKeys slots, Means means) {
    this.limits = limits;
    this.slots = slots;
    this.means = means;
  }

  /**
   * Takes rows in.
   *
   * @return why the record, or what is left of it, is to be rejected instead; null: it isn't
   */
  Decoded.@Nullable Failure accept(RawRecord record, Decoded.Rows rows) {
    Table table = rows.table();
    long time = rows.time();
    String flaw = timeFlaw(time);
    if (flaw != null) {
      return new Decoded.Failure(table, table.name, flaw, RawRecord.NO_TIMESTAMP);
    }
    List<byte[]> encoded = new ArrayList<>(rows.changes().size());
    try {
      for (Change change : rows.changes()) {
        encoded.add(encode(table, change));
      }
    } catch (InvalidRowException e) {
      String reason = String.valueOf(e.getMessage());
      return new Decoded.Failure(table, table.name, reason, time);
    }
    int shard = table.mapping.shard();
    if (rows.changes().get(0).action() == Action.TRUNCATE) {
      String other = otherPartition(shard, record);
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
        return new Decoded.Failure(table, table.name, reason, time);
      }
    }
    if (rows.ordered()) {
      time = means.lastTimes().atLeastLast(shard, record.partition, time);
    }
    if (rows.unknownColumns() > 0) {
      means.counts().unknownColumns(rows.unknownColumns());
    }
    if (means.start().isReplayed(shard, time)) {
      means.times().onRow(record.partition, time);
      means.counts().count(shard, Fate.REPLAYED);
      return null;
    }
    time = means.start().atLeastStart(shard, time);
    Decoded.Failure failure = rows.failure();
    for (int i = 0; i < encoded.size(); i++) {
      boolean counted = i == encoded.size() - 1 && failure == null;
      emit(record, table, rows.changes().get(i), encoded.get(i), time, counted);
    }
    means.times().onRow(record.partition, time);
    if (failure == null && table.mapping.envelope() != Envelope.UPSERT) {
      means.counts().count(shard, Fate.STORED); // else upsert knows what becomes of it
    }
    return failure;
  }

  /** Another partition in which rows of a shard come; null: none is known. */
  private @Nullable String otherPartition(int shard, RawRecord record) {
    String seen = means.lastTimes().otherPartition(shard, record.partition);
    TopicPartitions partitions = means.partitions();
    if (seen != null || record.topic == null || partitions == null) {
      return seen;
    }
    try {
      return partitions.besides(record.topic, record.partition);
    } catch (IOException e) {
      throw new UncheckedIOException("the job master doesn't say which partitions there are", e);
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
      for (int bucket = 0; bucket < slots.maxParallelism(); bucket++) {
        means.output().collect(KEYED, new StreamRecord<>(KeyedRow.truncate(shard, bucket, time)));
      }
      means.counts().count(shard, Fate.STORED);
      return;
    }
    if (change.action() == Action.DELETE) {
      KeyedRow delete = new KeyedRow(shard, bytes, null, time, counted, false, null, table.form);
      means.output().collect(KEYED, new StreamRecord<>(delete));
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
      means.output().collect(KEYED, new StreamRecord<>(set));
      return;
    }
    int slotKey = slots.slotKey(shard, bytes, keyLength);
    Update update = new Update(shard, slotKey, false, bytes, time, change.diff());
    update.companion = !counted;
    means.output().collect(new StreamRecord<>(update));
  }

  /** Why a time can't be; null: it can. */
  private @Nullable String timeFlaw(long time) {
    if (time == RawRecord.NO_TIMESTAMP) {
      return "no time: name the column that holds it (source.event-time)";
    }
    if (time == Long.MAX_VALUE || time > limits.maxTimeMillis()) {
      return "time " + time + " is later than allowed";
    }
    long ahead = limits.maxAheadMillis();
    if (ahead != Long.MAX_VALUE) {
      long now = means.clock().getCurrentProcessingTime();
      if (time > now + ahead && now + ahead > now) {
        return "time " + time + " is too far ahead of the clock (time.max-ahead)";
      }
    }
    return null;
  }

  /**
   * Makes a record an error row.
   *
   * @throws BadRecordException when errors fail the job
   */
  void reject(RawRecord record, Decoded.Failure failure) {
    if (limits.errorsFail()) {
      throw new BadRecordException(
          record.origin() + ": " + failure.reason() + " (errors is set to fail)");
    }
    int shard = failure.table().mapping.shard();
    byte[] row = errorRow(record, failure);
    boolean sane = timeFlaw(failure.time()) == null;
    if (means.start().isReplayed(shard, sane ? failure.time() : means.times().latest())) {
      if (sane) {
        means.times().onRow(record.partition, failure.time());
      }
      means.counts().count(shard, Fate.REPLAYED);
      return;
    }
    long time = means.start().atLeastStart(shard, sane ? failure.time() : Long.MIN_VALUE);
    int slotKey = slots.slotKey(shard, row, errorCodec.keyLength(row, 0, row.length));
    means.output().collect(new StreamRecord<>(new Update(shard, slotKey, true, row, time, 1)));
    if (sane) {
      means.times().onRow(record.partition, time);
    }
    means.counts().count(shard, Fate.ERROR);
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
}
