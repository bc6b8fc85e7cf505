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
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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

  /** After this long something that was asked for and didn't happen is asked for again. */
  private static final long DEADLINE_MILLIS = 120_000;

  /** A merge that keeps failing is asked for again after at most this many doublings of that. */
  private static final int MOST_DOUBLINGS = 5;

  /** After this long a merge that couldn't be cut is cut again, with as many doublings. */
  private static final long RECUT_MILLIS = 5_000;

  private final SpineOptions options;

  private transient List<Shard> shards;
  private transient Author author;
  private transient @Nullable ScheduledFuture<?> tick;
  private transient boolean ended;
  private transient MailboxExecutor mailbox;
  private transient ExecutorService executor;

  /**
   * That a promotion was asked for a batch.
   *
   * @param level its level then: once it has another it is done
   * @param deadline when to ask again, in the clock's milliseconds
   */
  private record Asked(int level, long deadline) {}

  /** A merge that was asked for, over once one of its inputs is gone or at another level. */
  private static final class Plan {
    final int level;
    final List<Batch> inputs;

    /** Its id, once it is cut. */
    String id = "";

    int tries;
    long deadline;

    Plan(int level, List<Batch> inputs) {
      this.level = level;
      this.inputs = inputs;
    }

    boolean isOver(Map<String, Batch> batches) {
      for (Batch input : inputs) {
        Batch now = batches.get(input.id());
        if (now == null || now.level() != input.level()) {
          return true;
        }
      }
      return false;
    }

    List<String> ids() {
      return inputs.stream().map(Batch::id).toList();
    }
  }

  /** What spine keeps of one of its shards between looks. */
  private static final class Shard {
    final int index;
    final ShardHandle handle;
    final SinceRule sinceRule;

    /** The batches whose promotion was asked for. */
    final Map<String, Asked> asked = new HashMap<>();

    /** The merges that were asked for. */
    final List<Plan> plans = new ArrayList<>();

    @Nullable Frontier askedSince;
    @Nullable Frontier askedConsolidation;
    long lastSince;
    SeqNo looked = SeqNo.ZERO;

    /** The newest version that it was told of: a read that was under way then may lack it. */
    SeqNo committed = SeqNo.ZERO;

    /** Whether there is work, or may be. */
    boolean busy = true;

    /** Whether its log is being read. */
    boolean reading;

    Shard(int index, ShardHandle handle) {
      this.index = index;
      this.handle = handle;
      this.sinceRule = new SinceRule(handle.target().retain());
    }
  }

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
    author =
        Attempts.author(Attempts.begin(options.settings().writer(), Clock.systemUTC()), "spine");
    shards = new ArrayList<>();
    for (int index = 0; index < options.shards().size(); index++) {
      ShardTarget target = options.shards().get(index);
      shards.add(
          new Shard(index, ShardHandles.acquire(getRuntimeContext(), target, options.settings())));
      shards.get(index).busy = options.settings().merging();
    }
    maybeTick();
  }

  @Override
  public void processElement(StreamRecord<ShardCommit> element) throws Exception {
    if (!options.settings().merging()) {
      return;
    }
    ShardCommit commit = element.getValue();
    Shard shard = shards.get(commit.shard());
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
    for (Shard shard : shards) {
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
  private void readOn(Shard shard) {
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
            LOG.warn("shard {} can't be read, tried again", shard.handle.target().name(), e);
          }
          report(shard, state);
        });
  }

  private void report(Shard shard, @Nullable ShardState state) {
    try {
      mailbox.execute(() -> read(shard, state), "log read");
    } catch (RejectedExecutionException taskIsClosing) {
      LOG.debug("a log was read after its task had ended");
    }
  }

  private void read(Shard shard, @Nullable ShardState state) throws Exception {
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
  private void look(Shard shard, ShardState state) {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    shard.looked = state.seqno();
    if (ended) {
      return;
    }
    Map<String, Batch> batches = new HashMap<>();
    state.batches().forEach(batch -> batches.put(batch.id(), batch));
    shard.asked.entrySet().removeIf(entry -> isOver(entry, batches, now));
    shard.plans.removeIf(plan -> plan.isOver(batches));
    askAgain(shard, state, now);
    Set<String> inMerge = new HashSet<>(shard.asked.keySet());
    shard.plans.forEach(plan -> inMerge.addAll(plan.ids()));
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), inMerge);
    boolean waits = moveSince(shard, state, !plans.isEmpty(), now);
    for (MergePlan plan : plans) {
      if (plan instanceof MergePlan.Promote promote) {
        shard.asked.put(promote.batch(), new Asked(promote.fromLevel(), now + TICK_MILLIS * 5));
        change(shard, new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
      } else if (!waits) {
        askMerge(shard, state, plan, batches, now);
      }
    }
    shard.busy =
        !plans.isEmpty()
            || !shard.asked.isEmpty()
            || !shard.plans.isEmpty()
            || state.consolidating() != null
            || state.seqno().compareTo(shard.committed) < 0
            // Then no commit tells that merging was switched on.
            || state.spine().mayRefuse(state.spec());
  }

  /** Asks again for merges that nothing was heard of for long, each time after longer. */
  private void askAgain(Shard shard, ShardState state, long now) {
    for (Plan plan : shard.plans) {
      long waits = DEADLINE_MILLIS << plan.tries;
      long heard = shard.handle.progress().lastFinishedMillis(plan.id);
      if (plan.deadline <= now && heard <= now - waits) {
        plan.tries = Math.min(plan.tries + 1, MOST_DOUBLINGS);
        cut(shard, plan, state, now);
      }
    }
  }

  private static boolean isOver(
      Map.Entry<String, Asked> entry, Map<String, Batch> batches, long now) {
    Batch batch = batches.get(entry.getKey());
    Asked asked = entry.getValue();
    return batch == null || batch.level() != asked.level() || asked.deadline() <= now;
  }

  /** Moves since if it is time to; whether merges had better wait for that. */
  private boolean moveSince(Shard shard, ShardState state, boolean mergeWanted, long now) {
    if (shard.askedSince != null && state.since().isBefore(shard.askedSince)) {
      boolean overdue = now - shard.lastSince > TICK_MILLIS * 2;
      shard.askedSince = overdue ? null : shard.askedSince;
      return !overdue;
    }
    boolean moved = shard.askedSince != null;
    shard.askedSince = null;
    Frontier next =
        moved
            ? null
            : shard.sinceRule.next(
                state.since(), state.upper(), mergeWanted, now - shard.lastSince);
    if (next == null) {
      return false;
    }
    shard.askedSince = next;
    shard.lastSince = now;
    change(shard, new Command.DowngradeSince(next));
    return mergeWanted;
  }

  private void askMerge(
      Shard shard, ShardState state, MergePlan plan, Map<String, Batch> batches, long now) {
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
        if (!consolidate.upper().equals(shard.askedConsolidation)) {
          shard.askedConsolidation = consolidate.upper();
          change(shard, new Command.BeginConsolidation(consolidate.upper()));
        } else {
          shard.askedConsolidation = null;
        }
        return;
      }
    }
    Plan asked = new Plan(level, inputs.stream().map(batches::get).toList());
    shard.plans.add(asked);
    cut(shard, asked, state, since, now);
  }

  private void cut(Shard shard, Plan plan, ShardState state, long now) {
    cut(shard, plan, state, state.since(), now);
  }

  /** Cuts a merge into chunks, in the executor, and asks for those. */
  private void cut(Shard shard, Plan plan, ShardState state, Frontier since, long now) {
    plan.deadline = now + (DEADLINE_MILLIS << plan.tries);
    executor.execute(
        () -> {
          List<MergeTask> tasks = List.of();
          try {
            tasks = chunks(shard, plan, state, since);
          } catch (IOException | RuntimeException e) {
            LOG.warn("a merge of shard {} can't be planned", shard.handle.target().name(), e);
          }
          List<MergeTask> found = tasks;
          try {
            mailbox.execute(() -> send(shard, plan, found), "merge cut");
          } catch (RejectedExecutionException taskIsClosing) {
            LOG.debug("a merge was cut after its task had ended");
          }
        });
  }

  private List<MergeTask> chunks(Shard shard, Plan plan, ShardState state, Frontier wanted)
      throws IOException {
    // since is of a state read before, so a hold that isn't listed now has seen it
    Frontier since = wanted.min(new Holds(shard.handle.log()).leastSince());
    int schema = state.schema().id();
    long bytes = plan.inputs.stream().mapToLong(Batch::bytes).sum();
    PartStore parts = shard.handle.parts(author).yielding();
    List<KeyRange> ranges =
        MergeChunks.cut(parts, plan.inputs, options.settings().mergeChunkBytes());
    List<String> inputs = plan.ids();
    List<MergeTask> tasks =
        MergeTask.plan(shard.index, plan.level, inputs, since, bytes, schema, ranges);
    // what is done of a merge that was planned before a restart goes on as it was planned
    Optional<MergeTask> begun = shard.handle.progress().begun(tasks.get(0));
    return begun.isEmpty()
        ? tasks
        : MergeTask.plan(
            shard.index,
            plan.level,
            inputs,
            begun.get().since(),
            bytes,
            begun.get().schema(),
            ranges);
  }

  private void send(Shard shard, Plan plan, List<MergeTask> tasks) {
    if (ended || !shard.plans.contains(plan)) {
      return;
    }
    if (tasks.isEmpty()) {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      plan.deadline = now + (RECUT_MILLIS << plan.tries);
      return;
    }
    plan.id = tasks.get(0).plan();
    for (MergeTask task : tasks) {
      if (!shard.handle.progress().isFinished(task)) {
        LOG.debug("shard {} wants {}", shard.handle.target().name(), task);
        output.collect(new StreamRecord<>(task));
      }
    }
  }

  private void change(Shard shard, Command command) {
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
