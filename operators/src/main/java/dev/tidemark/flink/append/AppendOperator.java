package dev.tidemark.flink.append;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.flink.pressure.PressureReport;
import dev.tidemark.log.Author;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes written batches durable in the logs of the shards that this subtask owns, keyed by shard.
 * Exactly once for every row:
 *
 * <ol>
 *   <li>A batch is appended only when a checkpoint that holds it has completed. Until its append is
 *       known to be done it stays in keyed state.
 *   <li>How far a checkpoint n reaches is the promise that stood at its barrier. It is state too:
 *       watermarks are not, and die on restore.
 *   <li>What this writer has appended already ({@code upto} in the log) is dropped, never appended
 *       again: a later checkpoint may still hold it.
 *   <li>The notification returns only when all shards are done: at the end of a job it is the last
 *       call that a task gets.
 * </ol>
 */
public final class AppendOperator extends AbstractStreamOperator<ShardCommit>
    implements OneInputStreamOperator<WrittenBatch, ShardCommit>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(AppendOperator.class);

  /** Shards that are appended to at the same time: each waits for the store only. */
  private static final int APPENDS = 16;

  /** How long a full shard is left alone before the next try. */
  private static final long RETRY_MILLIS = 1000;

  /** Where, among the promises by checkpoint, the last finite frontier is kept. */
  private static final long LAST_FINITE = -1;

  private final AppendOptions options;

  private transient MapState<PendingKey, WrittenBatch> pendingState;
  private transient ValueState<SeenShard> seenState;
  private transient ValueState<Long> startState;
  private transient BroadcastState<Long, Long> promisedState;

  private transient ExecutorService executor;
  private transient Author author;
  private transient List<OwnedShard> owned;

  /** What stood promised at the barrier of each checkpoint that isn't known to be complete. */
  private transient TreeMap<Long, Promise> promised;

  /** What stands promised now. */
  private transient Promise promise;

  /** What completed checkpoints cover. */
  private transient Promise covered;

  private transient long coveredTag;
  private transient boolean restored;
  private transient boolean ended;
  private transient boolean finished;
  private transient @Nullable ScheduledFuture<?> retry;
  private transient Frontier emitted;
  private transient @Nullable PressureReport pressure;

  /** For these shards. */
  public AppendOperator(AppendOptions options) {
    this.options = options;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    restored = context.isRestored();
    coveredTag = Long.MIN_VALUE;
    pendingState =
        context
            .getKeyedStateStore()
            .getMapState(new MapStateDescriptor<>("pending-1", PendingKey.TYPE, WrittenBatch.TYPE));
    seenState =
        context.getKeyedStateStore().getState(new ValueStateDescriptor<>("seen-1", SeenShard.TYPE));
    startState =
        context.getKeyedStateStore().getState(new ValueStateDescriptor<>("start-1", Types.LONG));
    promisedState =
        context
            .getOperatorStateStore()
            .getBroadcastState(new MapStateDescriptor<>("promised-1", Types.LONG, Types.LONG));
    promised = new TreeMap<>();
    promise = Promise.NOTHING;
    for (Map.Entry<Long, Long> entry : promisedState.immutableEntries()) {
      if (entry.getKey() == LAST_FINITE) {
        promise = promise.advance(Frontier.of(entry.getValue()));
      }
    }
    for (Map.Entry<Long, Long> entry : promisedState.immutableEntries()) {
      promise = promise.advance(Frontier.of(entry.getValue()));
    }
    promisedState.clear();
  }

  @Override
  public void open() throws Exception {
    super.open();
    executor = Workers.pool("tidemark-append", APPENDS);
    emitted = Frontier.MINIMUM;
    covered = promise;
    owned = ownedShards();
    WriterAttempt attempt = Attempts.begin(options.settings().writer(), Clock.systemUTC());
    Author opening = Attempts.author(attempt, "append");
    List<Callable<ShardState>> opens = new ArrayList<>();
    for (OwnedShard shard : owned) {
      setCurrentKey(shard.key());
      SeenShard seen = restored ? seenState.value() : null;
      opens.add(() -> open(shard, opening, seen));
    }
    List<ShardState> states = sideBySide(opens);
    for (ShardState state : states) {
      var writer = state.writers().get(attempt.writer());
      attempt = writer == null ? attempt : Attempts.after(attempt, writer.by());
    }
    author = Attempts.author(attempt, "append");
    if (options.pressing()) {
      pressure =
          PressureReport.start(
                  getRuntimeContext(),
                  getOperatorID().toString(),
                  () -> owned.stream().mapToDouble(OwnedShard::pressure).max().orElse(0))
              .orElse(null);
    }
    for (int i = 0; i < owned.size(); i++) {
      restore(owned.get(i), states.get(i));
    }
    if (restored) {
      commit();
    }
  }

  private List<OwnedShard> ownedShards() {
    var task = getRuntimeContext().getTaskInfo();
    long now = getProcessingTimeService().getCurrentProcessingTime();
    List<OwnedShard> mine = new ArrayList<>();
    for (int shard = 0; shard < options.shards().size(); shard++) {
      int key = options.slots().shardKey(shard);
      int subtask =
          KeyGroupRangeAssignment.assignKeyToParallelOperator(
              key, task.getMaxNumberOfParallelSubtasks(), task.getNumberOfParallelSubtasks());
      if (subtask == task.getIndexOfThisSubtask()) {
        ShardTarget target = options.shards().get(shard);
        ShardHandle handle = ShardHandles.acquire(getRuntimeContext(), target, options.settings());
        mine.add(new OwnedShard(shard, key, handle, getRuntimeContext(), getMetricGroup(), now));
      }
    }
    return mine;
  }

  private ShardState open(OwnedShard shard, Author by, @Nullable SeenShard seen)
      throws IOException {
    ShardHandle handle = shard.handle();
    RestoredShard.checkThere(handle, by, handle.log().refresh(), seen);
    ShardState state = handle.open(by);
    if (!restored) {
      ShardStart.checkData(handle.target(), state, options.settings().start());
    }
    return state;
  }

  private void restore(OwnedShard shard, ShardState state) throws Exception {
    setCurrentKey(shard.key());
    if (!restored && !state.upper().isMinimum()) {
      startState.update(state.upper().time());
    }
    Long start = startState.value();
    shard.start(start == null ? Frontier.MINIMUM : Frontier.of(start));
    if (restored) {
      RestoredShard.check(shard.handle(), author, state, promise, shard.start(), seenState.value());
      for (Map.Entry<PendingKey, WrittenBatch> entry : pendingState.entries()) {
        shard.addRestored(entry.getKey(), entry.getValue());
      }
    }
    shard.saw(state);
  }

  @Override
  public void processElement(StreamRecord<WrittenBatch> element) {
    WrittenBatch batch = element.getValue();
    for (OwnedShard shard : owned) {
      if (shard.index() == batch.shard()) {
        shard.add(batch);
        return;
      }
    }
    throw new IllegalStateException("a batch came to the wrong subtask: " + batch);
  }

  @Override
  public void processWatermark(Watermark mark) {
    promise = promise.advance(Frontier.ofWatermark(mark.getTimestamp()));
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    promised.put(context.getCheckpointId(), promise);
    promisedState.clear();
    promisedState.put(LAST_FINITE, promise.lastFinite().time());
    for (Map.Entry<Long, Promise> entry : promised.entrySet()) {
      promisedState.put(entry.getKey(), entry.getValue().frontier().time());
    }
    for (OwnedShard shard : owned) {
      setCurrentKey(shard.key());
      for (Map.Entry<PendingKey, WrittenBatch> added : shard.tag(context.getCheckpointId())) {
        pendingState.put(added.getKey(), added.getValue());
      }
      if (shard.changedSinceSnapshot()) {
        seenState.update(shard.seen());
      }
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    Map.Entry<Long, Promise> newest = promised.floorEntry(checkpointId);
    if (newest != null) {
      covered = newest.getValue();
      coveredTag = Math.max(coveredTag, newest.getKey());
      promised.headMap(checkpointId, true).clear();
    }
    commit();
    while (ended && anyFull()) {
      makeRoom();
      commit();
    }
  }

  private boolean anyFull() {
    return owned.stream().anyMatch(shard -> shard.stall().isFull());
  }

  /** After the end of input nobody else may be left to merge: append does it itself. */
  private void makeRoom() throws Exception {
    List<Callable<Boolean>> merges = new ArrayList<>();
    for (OwnedShard shard : owned) {
      if (shard.stall().isFull()) {
        checkStall(shard);
        merges.add(() -> settle(shard));
      }
    }
    if (!sideBySide(merges).contains(true)) {
      // Somebody else is at it. The timer service is quiet by now; ends at once when cancelled.
      executor.awaitTermination(RETRY_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private boolean settle(OwnedShard shard) throws IOException {
    return shard.compactor(author, options.settings()).step();
  }

  /** Appends all that completed checkpoints cover, to all shards side by side. */
  private void commit() throws Exception {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    List<OwnedShard> shards = new ArrayList<>();
    List<Callable<ShardAppend.Outcome>> appends = new ArrayList<>();
    for (OwnedShard shard : owned) {
      List<WrittenBatch> due = shard.due(coveredTag);
      boolean idleIsOver = shard.isIdleSince(now, options.settings().idleInterval());
      if (!due.isEmpty() || covered.frontier().isEnd() || idleIsOver) {
        shards.add(shard);
        appends.add(
            new ShardAppend(
                    shard.handle(),
                    author,
                    shard.start(),
                    due,
                    covered,
                    options.settings().inlineBytes())
                ::run);
      }
    }
    List<ShardAppend.Outcome> outcomes = sideBySide(appends);
    for (int i = 0; i < shards.size(); i++) {
      apply(shards.get(i), outcomes.get(i), now);
    }
    emitProgress();
    if (anyFull() && retry == null && !ended) {
      retry = getProcessingTimeService().registerTimer(now + RETRY_MILLIS, this::retry);
    }
  }

  private void retry(long time) throws Exception {
    retry = null;
    for (OwnedShard shard : owned) {
      if (shard.stall().isFull()) {
        checkStall(shard);
      }
    }
    commit();
  }

  private void checkStall(OwnedShard shard) throws IOException {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    if (shard.stall().millis(now) > options.settings().maxStall().toMillis()) {
      throw new IOException(
          "shard "
              + shard.handle().target().url()
              + " "
              + shard.stall().why(options.settings(), now));
    }
  }

  private void apply(OwnedShard shard, ShardAppend.Outcome outcome, long now) throws Exception {
    setCurrentKey(shard.key());
    for (PendingKey key : shard.remove(outcome.done())) {
      pendingState.remove(key);
    }
    shard.saw(outcome.state());
    shard.stall().note(outcome.full(), outcome.state(), now);
    ShardAppend.Committed committed = outcome.committed();
    if (committed != null) {
      LOG.debug(
          "shard {} version {}: up to {}, {} rows",
          shard.handle().target().name(),
          committed.seqno(),
          committed.upper(),
          committed.rows());
      shard.committed(committed, now);
      if (!finished) {
        output.collect(
            new StreamRecord<>(
                new ShardCommit(
                    shard.index(),
                    shard.handle().target().name(),
                    committed.seqno(),
                    committed.upper(),
                    committed.rows())));
      }
    }
  }

  /** The watermark says what is durable in all shards of this subtask. */
  private void emitProgress() {
    Frontier least = Frontier.END;
    for (OwnedShard shard : owned) {
      least = least.min(shard.seen().upper());
    }
    if (!owned.isEmpty() && !finished && emitted.isBefore(least)) {
      emitted = least;
      output.emitWatermark(new Watermark(least.watermark()));
    }
  }

  @Override
  public void endInput() {
    ended = true;
  }

  @Override
  public void finish() throws Exception {
    finished = true;
    super.finish();
  }

  private <T> List<T> sideBySide(List<Callable<T>> work) throws Exception {
    List<T> results = new ArrayList<>();
    for (Future<T> future : executor.invokeAll(work)) {
      try {
        results.add(future.get());
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Exception cause) {
          throw cause;
        }
        throw e;
      }
    }
    return results;
  }

  @Override
  public void close() throws Exception {
    if (pressure != null) {
      pressure.close();
    }
    Workers.stop(executor);
    if (owned != null) {
      owned.forEach(shard -> shard.handle().close());
    }
    super.close();
  }
}
