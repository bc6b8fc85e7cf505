package dev.tidemark.flink.install;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the changes of the side path into the shards' logs, in threads of its own, those of one
 * shard one after another. A change that no longer fits does nothing: the spine sees the log and
 * asks anew. Beside that it looks after the shards by the clock ({@link Upkeep}).
 */
public final class InstallOperator extends AbstractStreamOperator<Void>
    implements OneInputStreamOperator<SpineChange, Void> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(InstallOperator.class);

  /** Shards that are changed at the same time. */
  private static final int LANES = 4;

  private final InstallOptions options;

  private transient MailboxExecutor mailbox;
  private transient List<ExecutorService> lanes;
  private transient Author author;
  private transient List<ShardHandle> handles;
  private transient List<LongCounter> merges;
  private transient List<LongCounter> mergedBytes;
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
  public void open() throws Exception {
    super.open();
    author =
        Attempts.author(Attempts.begin(options.settings().writer(), Clock.systemUTC()), "install");
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
    startUpkeep();
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
  public void processElement(StreamRecord<SpineChange> element) {
    SpineChange change = element.getValue();
    lanes.get(change.shard() % LANES).execute(() -> commit(change));
  }

  /** In a thread of a lane. */
  private void commit(SpineChange change) {
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
      } else {
        LOG.debug("shard {}: {} left undone: {}", shard, change.command().name(), result);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("shard {}: {} failed, the spine asks again", shard, change.command().name(), e);
    }
  }

  private void count(int shard, long bytes) {
    try {
      mailbox.execute(
          () -> {
            merges.get(shard).add(1);
            mergedBytes.get(shard).add(bytes);
          },
          "merge counted");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("a merge was installed after its task had ended");
    }
  }

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
