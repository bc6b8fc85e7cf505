package dev.tidemark.flink.merge;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.log.Author;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Merges chunks in threads of its own, those of the lowest level first, then of the smallest merge,
 * consolidations last, and never holds up a barrier: a chunk that isn't finished is in the snapshot
 * as a task and begins anew after a restore. What fails for the store's sake is tried a few times
 * more. A part that can't be read, or memory that is too small, fails the whole plan, with one
 * warning; the spine asks again, later each time.
 */
public final class MergeOperator extends AbstractStreamOperator<MergedChunk>
    implements OneInputStreamOperator<MergeTask, MergedChunk>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(MergeOperator.class);

  /** Merges at the same time: two, so that a long one doesn't keep a short one waiting. */
  private static final int MERGES = 2;

  /** How often a merge is tried: some faults pass within seconds. */
  private static final int TRIES = 5;

  private static final long RETRY_MILLIS = 500;

  private static final Comparator<MergeTask> ORDER =
      Comparator.comparingInt(MergeOperator::rank)
          .thenComparingLong(MergeTask::bytes)
          .thenComparing(MergeTask::plan)
          .thenComparingInt(MergeTask::chunk);

  private final MergeOptions options;

  private transient MailboxExecutor mailbox;
  private transient ListState<MergeTask> unfinishedState;
  private transient ExecutorService executor;
  private transient Author author;
  private transient List<ShardHandle> handles;
  private transient List<MergeTask> unfinished;
  private transient PriorityQueue<MergeTask> waiting;
  private transient Map<MergeTask, Integer> tries;

  /** What failed and is tried again at {@link #retry}. */
  private transient List<MergeTask> resting;

  private transient @Nullable ScheduledFuture<?> retry;

  /** The plans that failed for good and were warned of. */
  private transient Set<String> warned;

  private transient List<LongCounter> failures;
  private transient Set<MergeTask> started;
  private transient boolean ended;

  /** For these shards. */
  public MergeOperator(MergeOptions options) {
    this.options = options;
  }

  private static int rank(MergeTask task) {
    return task.level() == MergeTask.CONSOLIDATION ? Integer.MAX_VALUE : task.level();
  }

  @Override
  public void setMailboxExecutor(MailboxExecutor mailboxExecutor) {
    super.setMailboxExecutor(mailboxExecutor);
    this.mailbox = mailboxExecutor;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    unfinishedState =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("unfinished-1", MergeTask.TYPE));
    unfinished = new ArrayList<>();
    unfinishedState.get().forEach(unfinished::add);
  }

  @Override
  public void open() throws Exception {
    super.open();
    executor = Workers.pool("tidemark-merge", MERGES);
    author = Attempts.author(options.settings().writer(), Clock.systemUTC(), "merge");
    handles = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      handles.add(ShardHandles.acquire(getRuntimeContext(), shard, options.settings()));
    }
    getMetricGroup().addGroup("tidemark").gauge("mergesUnfinished", this::unfinished);
    failures = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      LongCounter counter = new LongCounter();
      getRuntimeContext().addAccumulator("tidemark." + shard.name() + ".mergesFailed", counter);
      failures.add(counter);
    }
    warned = new HashSet<>();
    unfinished.removeIf(task -> task.plan().isEmpty() || !options.settings().merging());
    tries = new HashMap<>();
    started = new HashSet<>();
    resting = new ArrayList<>();
    waiting = new PriorityQueue<>(ORDER);
    waiting.addAll(unfinished);
    startMore();
  }

  @Override
  public void processElement(StreamRecord<MergeTask> element) {
    MergeTask task = element.getValue();
    if (task.plan().isEmpty() || unfinished.stream().anyMatch(known -> covers(known, task))) {
      return;
    }
    // planned anew: what is left of the older plan would only be an orphan
    waiting.removeIf(known -> isReplaced(known, task));
    resting.removeIf(known -> isReplaced(known, task));
    unfinished.removeIf(known -> isReplaced(known, task) && !started.contains(known));
    unfinished.add(task);
    waiting.add(task);
    startMore();
  }

  /** The spine asks again for what takes long; one of it is enough. */
  private static boolean covers(MergeTask known, MergeTask asked) {
    return known.equals(asked)
        || (known.chunks() == 1 && asked.chunks() == 1 && known.isOfSameInputs(asked));
  }

  private static boolean isReplaced(MergeTask known, MergeTask asked) {
    return known.isOfSameInputs(asked) && !known.plan().equals(asked.plan());
  }

  private void startMore() {
    while (started.size() < MERGES && !ended && !waiting.isEmpty()) {
      MergeTask task = waiting.remove();
      started.add(task);
      executor.execute(() -> merge(task));
    }
  }

  /** In a thread of the executor. */
  private void merge(MergeTask task) {
    ThrowingRunnable<Exception> news;
    try {
      Optional<Batch> output = output(task);
      news = () -> merged(task, output.orElse(null));
    } catch (IOException | RuntimeException e) {
      if (executor.isShutdown()) {
        LOG.debug("{} was broken off by the end of its task", task);
        return;
      }
      news = () -> failed(task, e);
    } catch (OutOfMemoryError e) {
      // as a part that can't be read: tried again at once it would fail again, or something else
      news = () -> planFailed(task, e);
    }
    try {
      mailbox.execute(news, "merged");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("{} ended after its task: what it uploaded is an orphan", task);
    }
  }

  private Optional<Batch> output(MergeTask task) throws IOException {
    ShardHandle handle = handles.get(task.shard());
    RunMerger merger =
        new RunMerger(handle.parts(author).yielding(), options.settings().mergeMemoryBytes());
    String id = ShardHandle.newId();
    RunMerger.Chunk chunk = new RunMerger.Chunk(task.range(), task.schema(), task.chunk() == 0);
    ShardState known = handle.log().known();
    Optional<Batch> output =
        known.exists()
            ? merger.merge(known, task.inputs(), task.since(), id, chunk)
            : Optional.empty();
    if (output.isPresent()) {
      return output;
    }
    ShardState now = handle.log().refresh();
    return merger.merge(now, task.inputs(), task.since(), id, chunk);
  }

  /** Its inputs can't be read, now or later: nothing of the plan is done. */
  private void planFailed(MergeTask task, Throwable failure) {
    started.remove(task);
    failures.get(task.shard()).add(1);
    if (warned.add(task.plan())) {
      String shard = options.shards().get(task.shard()).name();
      LOG.warn("shard {}: {} failed for good, said once", shard, task, failure);
    }
    waiting.removeIf(other -> other.plan().equals(task.plan()));
    resting.removeIf(other -> other.plan().equals(task.plan()));
    unfinished.removeIf(other -> other.plan().equals(task.plan()));
    tries.keySet().removeIf(other -> other.plan().equals(task.plan()));
    startMore();
  }

  /** Tries again after a while, twice as long each time; what fails too often is left to spine. */
  private void failed(MergeTask task, Exception failure) {
    if (!(failure instanceof StoreException)) {
      planFailed(task, failure);
      return;
    }
    LOG.warn("shard {}: {} failed", options.shards().get(task.shard()).name(), task, failure);
    started.remove(task);
    int failed = tries.merge(task, 1, Integer::sum);
    if (failed == TRIES || ended || !unfinished.contains(task)) {
      forget(task);
    } else {
      resting.add(task);
      if (retry == null) {
        long now = getProcessingTimeService().getCurrentProcessingTime();
        retry =
            getProcessingTimeService()
                .registerTimer(now + (RETRY_MILLIS << failed), this::tryAgain);
      }
    }
    startMore();
  }

  private void tryAgain(long time) {
    retry = null;
    waiting.addAll(resting);
    resting.clear();
    startMore();
  }

  private void forget(MergeTask task) {
    tries.remove(task);
    unfinished.remove(task);
  }

  private void merged(MergeTask task, @Nullable Batch merged) {
    started.remove(task);
    forget(task);
    if (merged != null) {
      output.collect(new StreamRecord<>(new MergedChunk(task, merged)));
    }
    startMore();
  }

  /** How many merges, or chunks of some, were asked for and are not over. */
  int unfinished() {
    return unfinished.size();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    unfinishedState.update(unfinished);
  }

  @Override
  public void processWatermark(Watermark mark) {}

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  /** What is not finished by now is left to whoever settles the shard. */
  @Override
  public void endInput() {
    ended = true;
    waiting.clear();
    resting.clear();
  }

  @Override
  public void close() throws Exception {
    Workers.stop(executor);
    if (handles != null) {
      handles.forEach(ShardHandle::close);
    }
    super.close();
  }
}
