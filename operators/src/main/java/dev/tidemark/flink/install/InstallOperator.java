package dev.tidemark.flink.install;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.stream.Collectors;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the changes of the side path into the shards' logs, in threads of its own, those of one
 * shard one after another. A change that no longer fits does nothing: the spine sees the log and
 * asks anew. A merge is put in at once when all of its chunks are there; those that are wait in
 * operator state, as a keyed state would cost a RocksDB instance. Beside that it looks after the
 * shards by the clock ({@link Upkeep}).
 */
public final class InstallOperator extends AbstractStreamOperator<Void>
    implements TwoInputStreamOperator<SpineChange, MergedChunk, Void> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(InstallOperator.class);

  /** Shards that are changed at the same time. */
  private static final int LANES = 4;

  /** How often the installing of a merge is tried whose commit fails. */
  private static final int TRIES = 8;

  private static final long RETRY_MILLIS = 500;

  private final InstallOptions options;

  private transient MailboxExecutor mailbox;
  private transient List<ExecutorService> lanes;
  private transient Author author;
  private transient List<ShardHandle> handles;
  private transient List<LongCounter> merges;
  private transient List<LongCounter> mergedBytes;
  private transient ListState<MergedChunk> finishedState;
  private transient FinishedChunks finished;
  private transient @Nullable Upkeep upkeep;

  /** For these shards. */
  public InstallOperator(InstallOptions options) {
    this.options = options;
  }

  @Override
  public void setMailboxExecutor(MailboxExecutor mailboxExecutor) {
    super.setMailboxExecutor(mailboxExecutor);
    this.mailbox = mailboxExecutor;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    finishedState =
        context
            .getOperatorStateStore()
            .getListState(new ListStateDescriptor<>("finished-chunks-1", MergedChunk.TYPE));
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    finishedState.update(finished.all());
  }

  @Override
  public void open() throws Exception {
    super.open();
    author = Attempts.author(options.settings().writer(), Clock.systemUTC(), "install");
    lanes = new ArrayList<>();
    for (int lane = 0; lane < LANES; lane++) {
      lanes.add(Workers.pool("tidemark-install-" + lane, 1));
    }
    handles = new ArrayList<>();
    merges = new ArrayList<>();
    mergedBytes = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      handles.add(ShardHandles.acquire(getRuntimeContext(), shard, options.settings()));
      merges.add(counter(shard, "merges"));
      mergedBytes.add(counter(shard, "mergedBytes"));
    }
    finished = new FinishedChunks();
    if (options.settings().merging()) {
      for (MergedChunk chunk : finishedState.get()) {
        add(chunk);
      }
      startUpkeep();
    }
  }

  private void startUpkeep() {
    Author collector = new Author(author.attempt(), "gc");
    upkeep =
        new Upkeep(
            options.settings(),
            getProcessingTimeService(),
            news -> mailbox.execute(news::run, "garbage collected"));
    var task = getRuntimeContext().getTaskInfo();
    for (int shard = 0; shard < handles.size(); shard++) {
      // each shard by one subtask, whichever its changes come to
      if (shard % task.getNumberOfParallelSubtasks() == task.getIndexOfThisSubtask()) {
        upkeep.add(handles.get(shard), collector, getMetricGroup());
      }
    }
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    if (upkeep != null) {
      upkeep.checkpointCompleted();
    }
  }

  private LongCounter counter(ShardTarget shard, String name) {
    LongCounter counter = new LongCounter();
    getRuntimeContext().addAccumulator("tidemark." + shard.name() + "." + name, counter);
    return counter;
  }

  @Override
  public void processElement1(StreamRecord<SpineChange> element) {
    SpineChange change = element.getValue();
    lanes.get(change.shard() % LANES).execute(() -> commit(change, null, 0));
  }

  @Override
  public void processElement2(StreamRecord<MergedChunk> element) {
    add(element.getValue());
  }

  private void add(MergedChunk chunk) {
    MergeTask task = chunk.task();
    long now = getProcessingTimeService().getCurrentProcessingTime();
    handles.get(task.shard()).progress().finished(task, now);
    List<MergedChunk> whole = finished.add(chunk);
    if (whole != null) {
      List<Batch> chunks = whole.stream().map(MergedChunk::batch).toList();
      Batch output = RunMerger.join(ShardHandle.newId(), chunks);
      install(task, new Command.InstallMerge(task.level(), task.inputs(), output), 0);
    }
  }

  private void install(MergeTask task, Command command, int failed) {
    SpineChange change = new SpineChange(task.shard(), command);
    lanes.get(task.shard() % LANES).execute(() -> commit(change, task, failed));
  }

  /** In the task's thread: a merge is installed, or it can't be. */
  private void over(MergeTask task) {
    finished.remove(task);
    handles.get(task.shard()).progress().forget(task.plan());
  }

  /** After too many tries it is given up, and the spine asks for all of it anew. */
  private void failed(MergeTask task, Command command, int failed) {
    if (failed == TRIES) {
      over(task);
    } else {
      again(task, command, failed);
    }
  }

  /** Tries again after a while, twice as long each time. */
  private void again(MergeTask task, Command command, int failed) {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    ScheduledFuture<?> unused =
        getProcessingTimeService()
            .registerTimer(now + (RETRY_MILLIS << failed), time -> install(task, command, failed));
  }

  /** Drops the chunks of merges that nobody will install: an input has left the shard. */
  private void dropStale(int shard, ShardState state) {
    Set<String> batches = state.batches().stream().map(Batch::id).collect(Collectors.toSet());
    for (MergeTask stale : finished.removeStale(shard, batches)) {
      handles.get(shard).progress().forget(stale.plan());
    }
  }

  /** In a thread of a lane. */
  private void commit(SpineChange change, @Nullable MergeTask task, int failed) {
    String shard = options.shards().get(change.shard()).name();
    try {
      ShardLog log = handles.get(change.shard()).log();
      Command command = change.command();
      if (command instanceof Command.DowngradeSince since) {
        // by courtesy: a hold that comes later finds since past it, and says so
        command = new Command.DowngradeSince(since.since().min(new Holds(log).leastSince()));
      }
      CommitResult result = log.commit(command, author);
      if (result instanceof CommitResult.Committed committed) {
        LOG.debug("shard {} version {}: {}", shard, committed.seqno(), change.command().name());
        if (change.command() instanceof Command.InstallMerge install) {
          count(change.shard(), install.output().bytes());
        }
      } else if (result instanceof CommitResult.Refused refused
          && refused.refusal() instanceof Decision.Refusal.Swept swept) {
        // it would be planned anew, and refused, for as long as the clocks stay as they are
        LOG.warn(
            "shard {}: {} refused: {}; see that the clocks of this machine and of the store agree",
            shard,
            change.command().name(),
            swept.message());
      } else if (change.command() instanceof Command.InstallMerge
          && result instanceof CommitResult.Refused refused
          && refused.refusal() instanceof Decision.Refusal.Invalid invalid) {
        // no race ends like this: what was merged is wrong, and will be again
        LOG.warn("shard {}: {} refused: {}", shard, change.command().name(), invalid.message());
      } else {
        LOG.debug("shard {}: {} left undone: {}", shard, change.command().name(), result);
      }
      ShardState state = result.state();
      if (task != null && isWaiting(result)) {
        report(() -> again(task, change.command(), Math.min(failed + 1, TRIES - 1)));
      } else if (task != null) {
        report(
            () -> {
              over(task);
              dropStale(change.shard(), state);
            });
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("shard {}: {} failed, tried again", shard, change.command().name(), e);
      if (task != null) {
        report(() -> failed(task, change.command(), failed + 1));
      }
    }
  }

  /**
   * Whether a merge is still to be installed: the level that it goes to was full, as the spec was
   * altered since it was planned. There will be room once that level was merged itself.
   */
  private static boolean isWaiting(CommitResult result) {
    return result instanceof CommitResult.Refused refused
        && refused.refusal() instanceof Decision.Refusal.LevelFull;
  }

  private void report(ThrowingRunnable<Exception> news) {
    try {
      mailbox.execute(news, "changed");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("a shard was changed after its task had ended");
    }
  }

  private void count(int shard, long bytes) {
    report(
        () -> {
          merges.get(shard).add(1);
          mergedBytes.get(shard).add(bytes);
        });
  }

  @Override
  public void processWatermark1(Watermark mark) {}

  @Override
  public void processWatermark2(Watermark mark) {}

  @Override
  public void processWatermark(Watermark mark) {}

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void close() throws Exception {
    if (upkeep != null) {
      upkeep.close();
    }
    if (lanes != null) {
      Workers.stop(lanes);
    }
    if (handles != null) {
      handles.forEach(ShardHandle::close);
    }
    super.close();
  }
}
