package dev.tidemark.flink.spine;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardCommit;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.Workers;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.SpineChange;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.merge.MergeChunks;
import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartStore;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the batches of its shards after each commit, and once a second while there is work, and
 * asks for what the planner wants: merges of merge, cut into chunks, all else of install, by the
 * side output. A merge of which no chunk was done for long is asked for again.
 *
 * <p>It has no state: the levels are in the log, whose state the task's handle keeps up to date.
 * Which merges it has asked for is not in the log; losing that costs a merge done twice. There is
 * no answer to what it asks: what became of it is in the log. A keyed state would be a second copy
 * that is never believed, and a RocksDB instance to snapshot at each checkpoint.
 */
public final class SpineOperator extends AbstractStreamOperator<MergeTask>
    implements OneInputStreamOperator<ShardCommit, MergeTask>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(SpineOperator.class);

  /** Where changes for install come out. */
  public static final OutputTag<SpineChange> CHANGES = new OutputTag<>("changes", SpineChange.TYPE);

  private static final long TICK_MILLIS = 1000;

  /** Logs that are read at the same time. */
  private static final int READS = 4;

  private final SpineOptions options;

  private transient List<SpineShard> shards;
  private transient Author author;
  private transient @Nullable ScheduledFuture<?> tick;
  private transient boolean ended;
  private transient MailboxExecutor mailbox;
  private transient ExecutorService executor;

  /** For these shards. */
  public SpineOperator(SpineOptions options) {
    this.options = options;
  }

  @Override
  public void setMailboxExecutor(MailboxExecutor mailboxExecutor) {
    super.setMailboxExecutor(mailboxExecutor);
    this.mailbox = mailboxExecutor;
  }

  /** All shards are looked at once: one that is full has no commit that would tell of it. */
  @Override
  public void open() throws Exception {
    super.open();
    executor = Workers.pool("tidemark-spine", READS);
    author = Attempts.author(options.settings().writer(), Clock.systemUTC(), "spine");
    shards = new ArrayList<>();
    for (int index = 0; index < options.shards().size(); index++) {
      ShardTarget target = options.shards().get(index);
      ShardHandle handle = ShardHandles.acquire(getRuntimeContext(), target, options.settings());
      shards.add(new SpineShard(index, handle, options.settings().merging()));
    }
    maybeTick();
  }

  @Override
  public void processElement(StreamRecord<ShardCommit> element) throws Exception {
    if (!options.settings().merging()) {
      return;
    }
    ShardCommit commit = element.getValue();
    SpineShard shard = shards.get(commit.shard());
    shard.committed = commit.seqno();
    ShardState known = shard.handle.log().known();
    if (known.seqno().compareTo(commit.seqno()) < 0) {
      readOn(shard);
    } else {
      look(shard, known);
      maybeTick();
    }
  }

  private void maybeTick() {
    if (tick == null && !ended && shards.stream().anyMatch(shard -> shard.busy)) {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      tick = getProcessingTimeService().registerTimer(now + TICK_MILLIS, this::tick);
    }
  }

  /** Reads on the shards with work: merges are installed without a commit that would tell. */
  private void tick(long time) throws Exception {
    tick = null;
    for (SpineShard shard : shards) {
      if (shard.busy) {
        ShardState known = shard.handle.log().known();
        if (known.exists() && !known.seqno().equals(shard.looked)) {
          look(shard, known);
        } else {
          readOn(shard);
        }
      }
    }
    maybeTick();
  }

  /** Reads the log on in the executor: a slow store holds up no barrier. */
  private void readOn(SpineShard shard) {
    if (shard.reading || ended) {
      return;
    }
    shard.reading = true;
    executor.execute(
        () -> {
          ShardState state = null;
          try {
            state = shard.handle.log().refresh();
          } catch (IOException | RuntimeException e) {
            LOG.warn("shard {} can't be read, tried again", shard.name(), e);
          }
          report(shard, state);
        });
  }

  private void report(SpineShard shard, @Nullable ShardState state) {
    try {
      mailbox.execute(() -> read(shard, state), "log read");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("a log was read after its task had ended");
    }
  }

  private void read(SpineShard shard, @Nullable ShardState state) throws Exception {
    shard.reading = false;
    if (state == null) {
      shard.busy = true;
    } else if (state.exists()) {
      look(shard, state);
    } else {
      shard.busy = false;
    }
    maybeTick();
  }

  /** Asks for what is wanted and not asked for yet. */
  private void look(SpineShard shard, ShardState state) {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    shard.looked = state.seqno();
    if (ended) {
      return;
    }
    Map<String, Batch> batches = new HashMap<>();
    state.batches().forEach(batch -> batches.put(batch.id(), batch));
    shard.forgetOver(batches, now);
    for (AskedMerge merge : shard.overdue(now)) {
      merge.again();
      cut(shard, merge, state, state.since(), now);
    }
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), shard.inMerge());
    Frontier since = shard.askSince(state, !plans.isEmpty(), now);
    if (since != null) {
      change(shard, new Command.DowngradeSince(since));
    }
    for (MergePlan plan : plans) {
      if (plan instanceof MergePlan.Promote promote) {
        shard.ask(promote, now);
        change(shard, new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
      } else if (!shard.awaitsSince()) {
        askMerge(shard, state, plan, batches, now);
      }
    }
    shard.looked(state, !plans.isEmpty());
  }

  private void askMerge(
      SpineShard shard, ShardState state, MergePlan plan, Map<String, Batch> batches, long now) {
    int level = MergeTask.CONSOLIDATION;
    List<String> inputs;
    Frontier since;
    if (plan instanceof MergePlan.Merge merge) {
      level = merge.level();
      inputs = merge.inputs();
      since = merge.since();
    } else {
      MergePlan.Consolidate consolidate = (MergePlan.Consolidate) plan;
      inputs = consolidate.inputs();
      since = consolidate.since();
      if (state.consolidating() == null) {
        if (shard.askConsolidation(consolidate.upper())) {
          change(shard, new Command.BeginConsolidation(consolidate.upper()));
        }
        return;
      }
    }
    AskedMerge asked = new AskedMerge(level, inputs.stream().map(batches::get).toList());
    shard.ask(asked);
    cut(shard, asked, state, since, now);
  }

  /** Cuts a merge into chunks, in the executor, and asks for those. */
  private void cut(SpineShard shard, AskedMerge merge, ShardState state, Frontier since, long now) {
    merge.asked(now);
    executor.execute(
        () -> {
          List<MergeTask> tasks = List.of();
          try {
            tasks = chunks(shard, merge, state, since);
          } catch (IOException | RuntimeException e) {
            LOG.warn("a merge of shard {} can't be planned", shard.name(), e);
          }
          List<MergeTask> found = tasks;
          try {
            mailbox.execute(() -> send(shard, merge, found), "merge cut");
          } catch (RejectedExecutionException taskIsClosing) {
            LOG.debug("a merge was cut after its task had ended");
          }
        });
  }

  private List<MergeTask> chunks(
      SpineShard shard, AskedMerge merge, ShardState state, Frontier wanted) throws IOException {
    // since is of a state read before, so a hold that isn't listed now has seen it
    Frontier since = wanted.min(new Holds(shard.handle.log()).leastSince());
    int schema = state.schema().id();
    long bytes = merge.inputs().stream().mapToLong(Batch::bytes).sum();
    PartStore parts = shard.handle.parts(author).yielding();
    List<KeyRange> ranges =
        MergeChunks.cut(parts, merge.inputs(), options.settings().mergeChunkBytes());
    List<String> inputs = merge.ids();
    List<MergeTask> tasks =
        MergeTask.plan(shard.index, merge.level(), inputs, since, bytes, schema, ranges);
    // what is done of a merge that was planned before a restart goes on as it was planned
    Optional<MergeTask> begun = shard.handle.progress().begun(tasks.get(0));
    return begun.isEmpty()
        ? tasks
        : MergeTask.plan(
            shard.index,
            merge.level(),
            inputs,
            begun.get().since(),
            bytes,
            begun.get().schema(),
            ranges);
  }

  private void send(SpineShard shard, AskedMerge merge, List<MergeTask> tasks) {
    if (ended || !shard.isAsked(merge)) {
      return;
    }
    if (tasks.isEmpty()) {
      merge.notCut(getProcessingTimeService().getCurrentProcessingTime());
      return;
    }
    merge.cut(tasks.get(0).plan());
    for (MergeTask task : tasks) {
      if (!shard.handle.progress().isFinished(task)) {
        LOG.debug("shard {} wants {}", shard.name(), task);
        output.collect(new StreamRecord<>(task));
      }
    }
  }

  private void change(SpineShard shard, Command command) {
    output.collect(CHANGES, new StreamRecord<>(new SpineChange(shard.index, command)));
  }

  @Override
  public void processWatermark(Watermark mark) {}

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {}

  @Override
  protected void processWatermarkStatus(WatermarkStatus status, int input) {}

  @Override
  public void endInput() {
    ended = true;
  }

  @Override
  public void close() throws Exception {
    Workers.stop(executor);
    if (shards != null) {
      shards.forEach(shard -> shard.handle.close());
    }
    super.close();
  }
}
