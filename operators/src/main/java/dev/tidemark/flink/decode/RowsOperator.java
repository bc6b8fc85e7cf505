package dev.tidemark.flink.decode;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartFrontiers;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.decode.Decoded.Change;
import dev.tidemark.flink.message.RawRecord;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.InvalidRowException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Turns the rows of a program's own stream into updates of one shard, as {@link DecodeOperator}
 * does with records: what can't be, becomes an error row or fails the job. Watermarks are the
 * stream's own.
 *
 * <p>The row before an update is held until the row after it comes, whose time is that of both; the
 * two count as one record. Any other row that takes one away comes at its own time or at the latest
 * of the rows before it in its subtask, whichever is later: the time in such a row is that of the
 * row which is taken away. Rows of one subtask are numbered, to name those that are errors; the
 * numbers begin anew with each attempt.
 *
 * @param <T> what the stream has
 */
public final class RowsOperator<T> extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<T, Update> {
  private static final long serialVersionUID = 1L;
  private static final BitSet NONE_MISSING = new BitSet();
  private static final ListStateDescriptor<Tuple2<byte[], Long>> BEFORE =
      new ListStateDescriptor<>(
          "before-1", TypeInformation.of(new TypeHint<Tuple2<byte[], Long>>() {}));

  private final RowReader<T> reader;
  private final ShardTarget shard;
  private final RowsSettings settings;
  private final SlotKeys slots;
  private final StartSettings startSettings;

  private transient InputCounts counts;
  private transient LastTimes lastTimes;
  private transient StartFrontiers start;
  private transient Table table;
  private transient Intake intake;
  private transient RawRecord origin;
  private transient boolean[] present;
  private transient ListState<Tuple2<byte[], Long>> beforeState;
  private transient @Nullable Before before;

  /** The row before an update whose row after it hasn't come yet. */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  private record Before(byte[] row, long timestamp) {}

  /**
   * For a shard.
   *
   * @throws IllegalArgumentException naming the mend, when settings and schema don't go together
   */
  public RowsOperator(
      RowReader<T> reader,
      ShardTarget shard,
      RowsSettings settings,
      SlotKeys slots,
      StartSettings start) {
    this.reader = reader;
    this.shard = shard;
    this.settings = settings;
    this.slots = slots;
    this.startSettings = start;
    new Table(settings.mapping(), shard); // refuses what can't be
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    counts =
        new InputCounts(
            List.of(shard.name()),
            getRuntimeContext(),
            getMetricGroup(),
            context.getOperatorStateStore());
    start = StartFrontiers.of(context, List.of(shard), startSettings);
    lastTimes = new LastTimes(context.getOperatorStateStore());
    beforeState = context.getOperatorStateStore().getListState(BEFORE);
    before = null;
  }

  @Override
  public void open() throws Exception {
    super.open();
    table = new Table(settings.mapping(), shard);
    Intake.Means means =
        new Intake.Means(
            counts, start, lastTimes, null, new Latest(), output, getProcessingTimeService());
    intake = new Intake(settings.limits(), slots, means);
    present = new boolean[table.schema.columns().size()];
    Arrays.fill(present, true);
    origin = new RawRecord();
    origin.place = "row of subtask " + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    for (Tuple2<byte[], Long> restored : beforeState.get()) {
      letGo();
      before = new Before(restored.f0, restored.f1);
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    counts.snapshot();
    lastTimes.snapshot();
    beforeState.clear();
    if (before != null) {
      beforeState.add(Tuple2.of(before.row(), before.timestamp()));
    }
  }

  @Override
  public void processElement(StreamRecord<T> element) {
    T row = element.getValue();
    RowKind kind = reader.kind(row);
    origin.number++;
    long timestamp = element.hasTimestamp() ? element.getTimestamp() : RawRecord.NO_TIMESTAMP;
    try {
      @Nullable Object[] values = reader.values(row);
      table.checkNulls(values, present, NONE_MISSING);
      if (kind == RowKind.UPDATE_AFTER && before != null) {
        Before old = before;
        before = null;
        take(old, kind, values, timestamp);
        return;
      }
      letGo();
      if (kind == RowKind.UPDATE_BEFORE) {
        before = new Before(table.codec.encode(values), timestamp);
      } else {
        take(null, kind, values, timestamp);
      }
    } catch (InvalidRowException e) {
      letGo();
      counts.read();
      reject(
          new Decoded.Failure(table, table.name, String.valueOf(e.getMessage()), timestamp),
          String.valueOf(row));
    }
  }

  /** The row before an update, without the row after it: it is taken away. */
  private void letGo() {
    Before old = before;
    before = null;
    if (old != null) {
      take(null, RowKind.UPDATE_BEFORE, valuesOf(old), old.timestamp());
    }
  }

  private @Nullable Object[] valuesOf(Before row) {
    return table.codec.decode(row.row(), 0, row.row().length);
  }

  /** Takes in one row, or the two of an update. */
  private void take(@Nullable Before old, RowKind kind, @Nullable Object[] values, long timestamp) {
    counts.read();
    Decoded.Failure failure;
    try {
      Decoded.Rows rows = rows(old == null ? null : valuesOf(old), kind, values, timestamp);
      failure = intake.accept(origin, rows);
      if (failure == null && !rows.ordered()) {
        // What takes a row away later must not come before it.
        lastTimes.atLeastLast(0, origin.partition, rows.time());
      }
    } catch (InvalidRowException e) {
      failure = new Decoded.Failure(table, table.name, String.valueOf(e.getMessage()), timestamp);
    }
    if (failure != null) {
      reject(failure, Arrays.toString(values));
    }
  }

  private void reject(Decoded.Failure failure, String raw) {
    origin.value = raw.getBytes(StandardCharsets.UTF_8);
    intake.reject(origin, failure);
    origin.value = null;
  }

  private Decoded.Rows rows(
      @Nullable Object @Nullable [] old, RowKind kind, @Nullable Object[] values, long timestamp)
      throws InvalidRowException {
    Envelope envelope = settings.envelope();
    boolean adds = RowKinds.adds(kind);
    if (envelope == Envelope.APPEND && (!adds || old != null)) {
      throw new InvalidRowException(
          "a row that takes another away, but envelope is append; take changelog or upsert for "
              + table.name);
    }
    long time = table.timeColumn < 0 ? timestamp : table.eventTime(values);
    List<Change> changes = new ArrayList<>();
    Change gone = old == null ? null : RowKinds.change(table, RowKind.UPDATE_BEFORE, old, values);
    if (gone != null) {
      changes.add(gone);
    }
    changes.add(Objects.requireNonNull(RowKinds.change(table, kind, values, null)));
    // A row that is taken away bears the time at which it came, not that at which it goes.
    boolean ordered = !adds || envelope == Envelope.CHANGELOG;
    return new Decoded.Rows(table, changes, time, ordered, 0);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (mark.getTimestamp() == Long.MAX_VALUE) {
      letGo();
    }
    super.processWatermark(mark);
  }

  /** Only the latest time is asked for. */
  private static final class Latest implements Intake.TimeListener {
    private long latest = Long.MIN_VALUE;

    @Override
    public void onRow(String partition, long time) {
      latest = Math.max(latest, time);
    }

    @Override
    public long latest() {
      return latest;
    }
  }
}
