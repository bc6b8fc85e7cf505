package dev.tidemark.flink.merge;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
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
 * Merges runs in threads of its own, lowest level first, then the smallest, and never holds up a
 * barrier: a merge that isn't finished is in the snapshot as a task and begins anew after a
 * restore. A merge that fails is tried a few times more, then dropped with a warning; the spine
 * asks again.
 */
public final class MergeOperator extends AbstractStreamOperator<SpineChange>
    implements OneInputStreamOperator<MergeTask, SpineChange>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(MergeOperator.class);

  /** Merges at the same time: two, so that a long one doesn't keep a short one waiting. */
  private static final int MERGES = 2;

  /** How often a merge is tried: some faults pass within seconds. */
  private static final int TRIES = 5;

  private static final long RETRY_MILLIS = 500;

  private static final Comparator<MergeTask> ORDER =
      Comparator.comparingInt(MergeOperator::rank).thenComparingLong(MergeTask::bytes);

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
  private transient int running;
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
    author =
        Attempts.author(Attempts.begin(options.settings().writer(), Clock.systemUTC()), "merge");
    handles = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      handles.add(ShardHandles.acquire(getRuntimeContext(), shard, options.settings()));
    }
    tries = new HashMap<>();
    resting = new ArrayList<>();
    waiting = new PriorityQueue<>(ORDER);
    waiting.addAll(unfinished);
    startMore();
  }

  @Override
  public void processElement(StreamRecord<MergeTask> element) {
    MergeTask task = element.getValue();
    if (unfinished.stream().noneMatch(known -> isSameMerge(known, task))) {
      unfinished.add(task);
      waiting.add(task);
      startMore();
    }
  }

  /** The spine asks again for what takes long; one of it is enough. */
  private static boolean isSameMerge(MergeTask known, MergeTask asked) {
    return known.shard() == asked.shard() && known.inputs().equals(asked.inputs());
  }

  private void startMore() {
    while (running < MERGES && !ended && !waiting.isEmpty()) {
      MergeTask task = waiting.remove();
      running++;
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
      LOG.warn("shard {}: {} failed", options.shards().get(task.shard()).name(), task, e);
      news = () -> failed(task);
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
    // the task's since is of a state read before, so a hold that isn't listed now has seen it
    Frontier since = task.since().min(new Holds(handle.log()).leastSince());
    ShardState known = handle.log().known();
    String id = ShardHandle.newId();
    Optional<Batch> output =
        known.exists()
            ? merger.merge(known, task.inputs(), since, id, RunMerger.Chunk.all(known))
            : Optional.empty();
    if (output.isPresent()) {
      return output;
    }
    ShardState now = handle.log().refresh();
    return merger.merge(now, task.inputs(), since, id, RunMerger.Chunk.all(now));
  }

  /** Tries again after a while, twice as long each time; what fails too often is left to spine. */
  private void failed(MergeTask task) {
    running--;
    int failures = tries.merge(task, 1, Integer::sum);
    if (failures == TRIES || ended) {
      forget(task);
    } else {
      resting.add(task);
      if (retry == null) {
        long now = getProcessingTimeService().getCurrentProcessingTime();
        retry =
            getProcessingTimeService()
                .registerTimer(now + (RETRY_MILLIS << failures), this::tryAgain);
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
    running--;
    forget(task);
    if (merged != null) {
      output.collect(
          new StreamRecord<>(
              new SpineChange(
                  task.shard(), new Command.InstallMerge(task.level(), task.inputs(), merged))));
    }
    startMore();
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
