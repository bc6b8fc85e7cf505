package dev.tidemark.bench;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.part.KeyRange;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A shard with a writer and one merger on a clock of their own: a commit each tick, and merges that
 * take the CPU time that they take. So the merger's load is what the tick makes it, whatever else
 * the machine does. Chunks go lowest level first, then smallest merge, a consolidation last; what
 * has begun is finished.
 */
final class SpineClock {
  private static final WriterAttempt BY =
      new WriterAttempt("bench", "2026-11-30T00:00:00Z", "1", "here");
  private static final Author AUTHOR = new Author(BY, "bench");

  /** A merge under way. */
  private static final class Work {
    final int level;
    final List<Batch> inputs;
    final Frontier since;
    final List<KeyRange> chunks;
    final List<Batch> merged = new ArrayList<>();

    Work(int level, List<Batch> inputs, Frontier since, List<KeyRange> chunks) {
      this.level = level;
      this.inputs = inputs;
      this.since = since;
      this.chunks = chunks;
    }

    long inputBytes() {
      return inputs.stream().mapToLong(Batch::bytes).sum();
    }

    /** In the order of the queue: a consolidation, of level -1, is the last. */
    int urgency() {
      return level < 0 ? Integer.MAX_VALUE : level;
    }
  }

  private final ShardLog log;
  private final SpineRows rows;
  private final List<Work> waiting = new ArrayList<>();
  private final List<Work> done = new ArrayList<>();
  private @Nullable Work running;
  private long doneAt;
  private long now;
  private long busy;
  private long inputRows;
  private long stalled;
  private int mostRuns;

  SpineClock(ShardLog log, SpineRows rows) {
    this.log = log;
    this.rows = rows;
  }

  /** Commits so many times, one each tick, and lets the shard come to rest. */
  void run(KeyUpdates updates, int commits, int runs, long tickNanos) throws IOException {
    for (int i = 0; i < commits; i++) {
      advance((i + 1) * tickNanos + stalled);
      ShardState state = log.known();
      BatchDescription bounds = new BatchDescription(state.upper(), Frontier.of(i + 1));
      append(rows.write(state, bounds, updates.next(), runs));
      mostRuns = Math.max(mostRuns, log.known().spine().runs());
      plan();
    }
  }

  /** Does what is still wanted. */
  void rest() throws IOException {
    plan();
    while (running != null || !waiting.isEmpty()) {
      advance(running == null ? now : doneAt);
    }
  }

  private void append(Batch batch) throws IOException {
    while (!commit(new Command.Append(BY, List.of(batch)))) {
      Work work = running;
      if (work == null) {
        throw new IllegalStateException("an append waits and nobody merges");
      }
      stalled += doneAt - now;
      advance(doneAt);
    }
  }

  /** Lets the merger work until then. */
  private void advance(long until) throws IOException {
    while (true) {
      if (running == null) {
        waiting.sort(Comparator.comparingInt(Work::urgency).thenComparingLong(Work::inputBytes));
        if (waiting.isEmpty()) {
          now = Math.max(now, until);
          return;
        }
        begin(waiting.remove(0));
      }
      if (doneAt > until) {
        now = Math.max(now, until);
        return;
      }
      now = doneAt;
      finish();
    }
  }

  private void begin(Work work) throws IOException {
    KeyRange chunk = work.chunks.get(work.merged.size());
    SpineRows.Merged merged = rows.merge(log.known(), work.inputs, work.since, chunk);
    work.merged.add(merged.batch());
    busy += merged.nanos();
    doneAt = now + merged.nanos();
    running = work;
  }

  private void finish() throws IOException {
    Work work = running;
    running = null;
    if (work == null) {
      return;
    }
    if (work.merged.size() < work.chunks.size()) {
      waiting.add(work);
      return;
    }
    inputRows += work.inputs.stream().mapToLong(Batch::rows).sum();
    done.add(work);
    while (done.removeIf(this::install)) {
      plan();
    }
  }

  private boolean install(Work work) {
    try {
      List<String> inputs = work.inputs.stream().map(Batch::id).toList();
      Batch output = RunMerger.join(work.merged.get(0).id(), work.merged);
      return commit(new Command.InstallMerge(work.level, inputs, output));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Takes up all that is wanted; since goes along, as with {@code retain = 0}. */
  private void plan() throws IOException {
    boolean again = true;
    while (again) {
      again = false;
      ShardState state = log.known();
      Set<String> busyIds = new HashSet<>();
      works().forEach(work -> work.inputs.forEach(batch -> busyIds.add(batch.id())));
      List<MergePlan> plans =
          SpinePlanner.plan(
              state.spec(), state.batches(), state.since(), state.consolidating(), busyIds);
      Frontier since = Frontier.of(state.upper().time() - 1);
      if (!plans.isEmpty() && since.isAfter(state.since())) {
        again = commit(new Command.DowngradeSince(since));
        continue;
      }
      for (MergePlan plan : plans) {
        again |= take(state, plan);
      }
    }
  }

  private List<Work> works() {
    List<Work> all = new ArrayList<>(waiting);
    all.addAll(done);
    if (running != null) {
      all.add(running);
    }
    return all;
  }

  private boolean take(ShardState state, MergePlan plan) throws IOException {
    if (plan instanceof MergePlan.Promote promote) {
      return commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
    }
    if (plan instanceof MergePlan.Merge merge) {
      return start(state, merge.level(), merge.inputs(), merge.since());
    }
    MergePlan.Consolidate consolidate = (MergePlan.Consolidate) plan;
    if (state.consolidating() == null
        && !commit(new Command.BeginConsolidation(consolidate.upper()))) {
      return false;
    }
    return start(log.known(), -1, consolidate.inputs(), consolidate.since());
  }

  private boolean start(ShardState state, int level, List<String> ids, Frontier since)
      throws IOException {
    Set<String> wanted = Set.copyOf(ids);
    List<Batch> inputs =
        state.batches().stream().filter(batch -> wanted.contains(batch.id())).toList();
    waiting.add(new Work(level, inputs, since, rows.chunks(state, inputs)));
    return true;
  }

  private boolean commit(Command command) throws IOException {
    CommitResult result = log.commit(command, AUTHOR);
    return result instanceof CommitResult.Committed;
  }

  /** Creates the shard; its id. */
  static ShardState create(ShardLog log, Command.Create create) throws IOException {
    return log.commit(create, AUTHOR).state();
  }

  /** Appends batches at once. */
  static ShardState append(ShardLog log, List<Batch> batches) throws IOException {
    return log.commit(new Command.Append(BY, batches), AUTHOR).state();
  }

  /** For how long appends waited, nanoseconds of the clock. */
  long stalledNanos() {
    return stalled;
  }

  /** The clock, nanoseconds. */
  long nowNanos() {
    return now;
  }

  /** For how long the merger was at work, nanoseconds. */
  long busyNanos() {
    return busy;
  }

  /** Rows that merges read. */
  long inputRows() {
    return inputRows;
  }

  /** The most runs after any commit. */
  int mostRuns() {
    return mostRuns;
  }
}
