package dev.tidemark.flink.source;

import dev.tidemark.flink.message.Update;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Adds updates up exactly, and can fail once in the middle: when a checkpoint is complete that
 * holds some of them. One subtask.
 */
final class Tally extends AbstractStreamOperator<Update>
    implements OneInputStreamOperator<Update, Update> {
  private static final long serialVersionUID = 1L;
  private static final Map<String, Map<String, Long>> RESULTS = new ConcurrentHashMap<>();
  private static final Map<String, AtomicBoolean> FAILED = new ConcurrentHashMap<>();

  /** Behind these rows a job that is to fail goes slowly until it has: it must not end first. */
  private static final int AT_FULL_SPEED = 2_000;

  private static final long PAUSE_NANOS = 300_000;

  private final String id;
  private final boolean fails;
  private transient Map<String, Long> sums;
  private transient ListState<String> state;
  private transient long seenAtSnapshot;
  private transient long watermark;

  Tally(String id, boolean fails) {
    this.id = id;
    this.fails = fails;
    FAILED.put(id, new AtomicBoolean());
    RESULTS.remove(id);
  }

  /** Shard, row in hex, and how often; known once the job has ended by itself. */
  static Map<String, Long> result(String id) {
    return RESULTS.get(id);
  }

  static boolean failed(String id) {
    return FAILED.get(id).get();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("sums", Types.STRING));
    sums = new HashMap<>();
    watermark = Long.MIN_VALUE;
    for (String entry : state.get()) {
      int blank = entry.indexOf(' ');
      sums.put(entry.substring(blank + 1), Long.parseLong(entry.substring(0, blank)));
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    state.clear();
    for (Map.Entry<String, Long> entry : sums.entrySet()) {
      state.add(entry.getValue() + " " + entry.getKey());
    }
    seenAtSnapshot = sums.size();
  }

  @Override
  public void notifyCheckpointComplete(long id) {
    if (fails
        && seenAtSnapshot > 0
        && watermark != Long.MAX_VALUE
        && FAILED.get(this.id).compareAndSet(false, true)) {
      throw new IllegalStateException("failing once, as told");
    }
  }

  @Override
  public void processElement(StreamRecord<Update> element) {
    if (fails && sums.size() > AT_FULL_SPEED && !FAILED.get(id).get()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    Update update = element.getValue();
    byte[] row = Arrays.copyOf(update.row, update.row.length);
    sums.merge(
        (update.error ? "error " : "") + update.shard + ":" + HexFormat.of().formatHex(row),
        update.diff,
        Long::sum);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    watermark = mark.getTimestamp();
    super.processWatermark(mark);
  }

  @Override
  public void finish() throws Exception {
    Map<String, Long> result = new TreeMap<>(sums);
    result.values().removeIf(sum -> sum == 0);
    RESULTS.put(id, result);
    super.finish();
  }
}
