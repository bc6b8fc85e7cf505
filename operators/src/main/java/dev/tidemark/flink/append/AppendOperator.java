package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.flink.pressure.PressureReport;
import dev.tidemark.log.Author;
import dev.tidemark.time.Frontier;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
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
 *
 * <ol>
 *   <li>When a batch may be appended is told by the {@link Coverage} of the commit mode: once a
 *       checkpoint that holds it has completed, or once the watermark has passed it. Until its
 *       append is known to be done it stays in keyed state.
 *   <li>How far a checkpoint n reaches is the promise that stood at its barrier. It is state too:
 *       watermarks are not, and die on restore.
 *   <li>What this writer has appended already ({@code upto} in the log) is dropped, never appended
 *       again: a later checkpoint may still hold it.
 *   <li>At most one append a shard is under way, of all shards side by side. With commit =
 *       checkpoint the notification waits for them: at the end of a job it is the last call that a
 *       task gets. While the input goes on it doesn't wait for a shard that is stuck; with commit =
 *       frontier nothing waits before the end of input.
 * </ol>
 */
public final class AppendOperator extends AbstractStreamOperator<ShardCommit>
    implements OneInputStreamOperator<WrittenBatch, ShardCommit>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(AppendOperator.class);

  /** How long a full or read-only shard is left alone before the next try. */
  private static final long RETRY_MILLIS = 1000;

  /**
   * How long a notification waits for appends while the input goes on: longer is a stuck store. At
   * most a quarter of what a shard may be stuck for at all.
   */
  private static final Duration MOST_PATIENCE = Duration.ofSeconds(10);

  private final AppendOptions options;
  private final AppendPolicy policy;

  private transient MailboxExecutor mailbox;
  private transient AppendState state;
  private transient Coverage coverage;
  private transient ExecutorService executor;
  private transient InFlight inFlight;
  private transient Author author;
  private transient List<OwnedShard> owned;
  private transient boolean ended;
  private transient boolean finished;
  private transient @Nullable ScheduledFuture<?> tick;
  private transient Frontier emitted;
  private transient @Nullable PressureReport pressure;

  /** For these shards. */
  public AppendOperator(AppendOptions options) {
    this.options = options;
    this.policy = AppendPolicy.of(options.settings().commit());
  }

  @Override
  public void setMailboxExecutor(MailboxExecutor mailboxExecutor) {
    super.setMailboxExecutor(mailboxExecutor);
    this.mailbox = mailboxExecutor;
  }

  private boolean isFrontier() {
    return options.settings().commit().isFrontier();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = new AppendState(context);
    boolean isNew = !state.isRestored() && options.settings().start() == StartMode.APPEND;
    coverage =
        isFrontier()
            ? new FrontierCoverage(state.promise(), isNew)
            : new CheckpointCoverage(state.promise());
  }

  @Override
  public void open() throws Exception {
    super.open();
    emitted = Frontier.MINIMUM;
    owned = ownedShards();
    executor = InFlight.threads(owned.size());
    inFlight = new InFlight(executor, mailbox, this::apply);
    getMetricGroup().addGroup("tidemark").gauge("appendsInFlight", inFlight::count);
    boolean failover = getRuntimeContext().getTaskInfo().getAttemptNumber() > 0;
    Opening opening = new Opening(options.settings(), policy, state, failover);
    author = opening.open(owned, executor, this::setCurrentKey);
    if (options.pressing()) {
      pressure =
          PressureReport.start(
                  getRuntimeContext(),
                  getOperatorID().toString(),
                  () -> owned.stream().mapToDouble(OwnedShard::pressure).max().orElse(0))
              .orElse(null);
    }
    for (OwnedShard shard : owned) {
      setCurrentKey(shard.key());
      opening.restore(shard, coverage.covered());
    }
    if (state.isRestored()) {
      commit();
    }
    maybeTick();
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
        mine.add(
            new OwnedShard(
                shard, key, handle, getRuntimeContext(), getMetricGroup(), Clock.systemUTC(), now));
      }
    }
    return mine;
  }

  @Override
  public void processElement(StreamRecord<WrittenBatch> element) {
    WrittenBatch batch = element.getValue();
    for (OwnedShard shard : owned) {
      if (shard.index() == batch.shard()) {
        shard.pending().add(batch);
        return;
      }
    }
    throw new IllegalStateException("a batch came to the wrong subtask: " + batch);
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    Frontier frontier = Frontier.ofWatermark(mark.getTimestamp());
    coverage.promise(frontier);
    if (isFrontier() && !coverage.isGated()) {
      if (frontier.isEnd()) {
        commitAll();
        output.emitWatermark(Watermark.MAX_WATERMARK);
      } else {
        submit(false);
      }
    }
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    coverage.barrier(context.getCheckpointId());
    state.write(coverage);
    for (OwnedShard shard : owned) {
      setCurrentKey(shard.key());
      state.write(shard, context.getCheckpointId());
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    boolean opens = coverage.isGated();
    coverage.completed(checkpointId);
    if (isFrontier() && !opens) {
      return;
    }
    if (ended) {
      commitAll();
    } else {
      commit();
    }
  }

  /** Appends what may be, to all shards side by side. */
  private void commit() throws Exception {
    List<OwnedShard> begun = submit(true);
    if (!isFrontier()) {
      inFlight.await(begun, patience());
    }
    emitProgress();
    maybeTick();
  }

  private Duration patience() {
    Duration quarter = options.settings().maxStall().dividedBy(4);
    return quarter.compareTo(MOST_PATIENCE) < 0 ? quarter : MOST_PATIENCE;
  }

  /** At the end of input: appends everything, and comes back when it is done. */
  private void commitAll() throws Exception {
    submit(true);
    awaitAll();
    while (owned.stream().anyMatch(this::hasDue)) {
      makeRoom();
      submit(true);
      awaitAll();
    }
    emitProgress();
  }

  private void awaitAll() throws Exception {
    while (!inFlight.await(owned, patience())) {
      for (OwnedShard shard : owned) {
        shard.checkStall(options.settings(), now(), inFlight.millis(shard));
      }
    }
  }

  private long now() {
    return getProcessingTimeService().getCurrentProcessingTime();
  }

  private boolean hasDue(OwnedShard shard) {
    return !shard.pending().due(coverage).isEmpty();
  }

  /** After the end of input nobody else may be left to merge: append does it itself. */
  private void makeRoom() throws Exception {
    List<Callable<Boolean>> merges = new ArrayList<>();
    for (OwnedShard shard : owned) {
      if (shard.stall().isFull()) {
        shard.checkStall(options.settings(), now(), inFlight.millis(shard));
        merges.add(() -> shard.compactor(author, options.settings()).step());
      }
    }
    if (!Workers.sideBySide(executor, merges).contains(true)) {
      // Somebody else is at it. The timer service is quiet by now; ends at once when cancelled.
      executor.awaitTermination(RETRY_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /**
   * Begins the appends that are due, of shards without one under way.
   *
   * @param looks whether shards that are read-only, or full, are tried too
   * @return those begun
   */
  private List<OwnedShard> submit(boolean looks) {
    List<OwnedShard> begun = new ArrayList<>();
    for (OwnedShard shard : owned) {
      if (!inFlight.has(shard) && (looks || !(shard.isReadOnly() || shard.stall().isFull()))) {
        if (maybeSubmit(shard)) {
          begun.add(shard);
        }
      }
    }
    return begun;
  }

  private boolean maybeSubmit(OwnedShard shard) {
    List<WrittenBatch> batches = shard.pending().due(coverage);
    Promise promise = coverage.covered();
    if (batches.isEmpty()) {
      boolean behind = shard.seen().upper().isBefore(promise.lastFinite());
      boolean idle = shard.isIdleSince(now(), options.settings().idleInterval());
      if (!behind || !(idle || promise.frontier().isEnd())) {
        return false;
      }
    }
    Due due = new Due(batches, promise, shard.start(), shard.seen().upper());
    shard.submitted(batches.size());
    inFlight.submit(
        shard,
        new ShardAppend(shard.handle(), author, due, policy, options.settings().inlineBytes())
            ::run);
    return true;
  }

  /** Whether a look once a second is called for; with commit = frontier quiet shards need it. */
  private void maybeTick() {
    boolean waits =
        isFrontier()
            || inFlight.count() > 0
            || owned.stream().anyMatch(shard -> shard.stall().isFull());
    if (waits && tick == null && !ended) {
      tick = getProcessingTimeService().registerTimer(now() + RETRY_MILLIS, this::tick);
    }
  }

  private void tick(long time) throws Exception {
    tick = null;
    for (OwnedShard shard : owned) {
      shard.checkStall(options.settings(), now(), inFlight.millis(shard));
    }
    commit();
  }

  private void apply(OwnedShard shard, ShardAppend.Outcome outcome) throws Exception {
    long now = now();
    Object keyBefore = getCurrentKey();
    setCurrentKey(shard.key());
    state.remove(shard.pending().remove(outcome.done()));
    setCurrentKey(keyBefore);
    shard.saw(outcome.state());
    shard.note(outcome, now);
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
    boolean wentOn = shard.submitted() == 0 || !outcome.done().isEmpty();
    if (wentOn && outcome.full() == null && !outcome.readOnly() && hasDue(shard)) {
      maybeSubmit(shard);
    }
    emitProgress();
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

  /** How many appends are under way. */
  int appendsInFlight() {
    return inFlight.count();
  }

  /** How many batches aren't known to be in a log. */
  int pending() {
    return owned.stream().mapToInt(shard -> shard.pending().size()).sum();
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
