package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.ShardMachine;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A shard under the real planner and the real state machine, with a writer that appends once a tick
 * and mergers of finite capacity that take the lowest level first, then the smallest merge, in
 * chunks.
 */
final class SpineRun {
  private static final WriterAttempt WRITER =
      new WriterAttempt("w", "2026-11-30T00:00:00Z", "1", "h");
  private static final int CONSOLIDATION = Integer.MAX_VALUE;

  /** A merge that is wanted, under way or waiting for room; its contents were read at its start. */
  private static final class Work {
    final int level;
    final List<String> inputs;
    final Frontier since;
    final Contents output;
    final long inputBytes;
    double left;
    double chunkLeft;

    Work(
        int level,
        List<String> inputs,
        Frontier since,
        Contents output,
        long inputBytes,
        double chunk) {
      this.level = level;
      this.inputs = inputs;
      this.since = since;
      this.output = output;
      this.inputBytes = inputBytes;
      this.left = inputBytes;
      this.chunkLeft = Math.min(chunk, left);
    }
  }

  private static final Comparator<Work> FIRST =
      Comparator.<Work>comparingInt(work -> work.level).thenComparingLong(work -> work.inputBytes);

  private final Map<String, Contents> contents = new HashMap<>();
  private final List<Work> works = new ArrayList<>();
  private @Nullable Work running;
  private Consumer<Diff> log = diff -> {};
  private ShardState state = ShardState.EMPTY;
  private Capacity capacity;
  private int names;

  /** Whether since follows the upper. */
  private boolean released = true;

  private double depth;
  private int queue;

  private long time;
  private long refusals;
  private long runsAppended;
  private double bytesAppended;
  private double bytesMerged;

  /** Whether the consolidation under way was forced. */
  private boolean forced;

  SpineRun(SpineSpec spec, Capacity capacity) {
    this.capacity = capacity;
    Schema schema = Schema.parse("k BIGINT NOT NULL", 1);
    decide(new Command.Create("shard-1", schema, spec));
    queue = spec.queue();
  }

  // ---- What the tests do

  /** Hands every diff from now on to {@code log}. */
  void tell(Consumer<Diff> log) {
    this.log = log;
  }

  void capacity(Capacity now) {
    this.capacity = now;
  }

  /** Holds since where it is, or lets it follow the upper again. */
  void hold(boolean held) {
    released = !held;
  }

  /** The next append, of so many runs, tried once. Whether it was admitted; then merges go on. */
  boolean append(Contents rows, int runs) {
    long upper = time + 1;
    Batch batch = batch("b" + names, state.upper(), upper, rows, runs);
    Decision decision = decide(new Command.Append(WRITER, List.of(batch)));
    boolean admitted = decision instanceof Decision.Commit;
    if (admitted) {
      names++;
      time = upper;
      if (!batch.runs().isEmpty()) {
        contents.put(batch.id(), rows);
      }
      runsAppended += batch.runCount();
      bytesAppended += batch.bytes();
    } else {
      assertThat(decision).isInstanceOf(Decision.Refusal.SpineFull.class);
      refusals++;
    }
    tick();
    return admitted;
  }

  /** The time that the next append's rows may have. */
  long time() {
    return time;
  }

  /** Time passes for the mergers. */
  void tick() {
    if (capacity.bytesPerTick() == 0) {
      return;
    }
    plan();
    installAll();
    double budget = capacity.bytesPerTick();
    while (budget > 0) {
      Work work = running != null ? running : first();
      if (work == null) {
        return;
      }
      double done = Math.min(budget, work.chunkLeft);
      budget -= done;
      work.left -= done;
      work.chunkLeft -= done;
      running = work.chunkLeft > 0 ? work : null;
      if (running == null) {
        work.chunkLeft = Math.min(capacity.chunkBytes(), work.left);
      }
      if (work.left <= 0) {
        installAll();
        plan();
      }
    }
  }

  /** Ticks until nothing is wanted any more; how many it took. */
  long rest() {
    long ticks = 0;
    while (!rests()) {
      ticks += skip();
      tick();
      assertThat(ticks++).as("ticks until the shard rests").isLessThan(1L << 40);
    }
    return ticks;
  }

  /** Goes on with the merge at hand to just before the end of its chunk; how many ticks it took. */
  private long skip() {
    double ticks =
        running == null ? 0 : Math.floor(running.chunkLeft / capacity.bytesPerTick()) - 1;
    if (running == null || !(ticks > 0)) {
      return 0;
    }
    running.left -= ticks * capacity.bytesPerTick();
    running.chunkLeft -= ticks * capacity.bytesPerTick();
    return (long) ticks;
  }

  /** Whoever merges is gone, and what it was at. */
  void loseMergers() {
    works.clear();
    running = null;
  }

  /** Another spec, as one alters it on a live shard. */
  void alter(SpineSpec spec) {
    decide(
        new Command.AlterSpec(
            spec.fanIn(),
            spec.queue(),
            spec.rest(),
            spec.baseBytes(),
            spec.space(),
            spec.merging()));
    bounds();
    queue = Math.max(queue, spec.queue());
  }

  /** Somebody wants a full merge, up to a batch that is there. */
  void force(Frontier upper) {
    boolean begins = decide(new Command.ForceConsolidation(upper)) instanceof Decision.Commit;
    forced |= begins;
  }

  ShardState state() {
    return state;
  }

  long refusals() {
    return refusals;
  }

  double bytesMerged() {
    return bytesMerged;
  }

  double bytesAppended() {
    return bytesAppended;
  }

  /** The ids of the inputs of merges under way. */
  Set<String> inMerge() {
    Set<String> busy = new HashSet<>();
    works.forEach(work -> busy.addAll(work.inputs));
    return busy;
  }

  long storedBytes() {
    return state.batches().stream().mapToLong(Batch::bytes).sum();
  }

  /** The runs that a reader merges. */
  int runs() {
    return spine().runs();
  }

  // ---- The laws, as far as several test classes need them

  /** L, the greatest so far. */
  double depth() {
    bounds();
    return depth;
  }

  private Bounds bounds() {
    Bounds now = Bounds.of(state.spec(), runsAppended, (long) Math.min(bytesAppended, 9e18));
    depth = Math.max(depth, now.depth());
    return now;
  }

  void checkReadBound() {
    bounds();
    long bound = queue * ((long) Math.floor(depth) + 1);
    Spine spine = spine();
    assertThat((long) spine.count()).as("counted runs").isLessThanOrEqualTo(bound);
    assertThat((long) spine.runs()).as("runs").isLessThanOrEqualTo(2 * bound);
  }

  /** What the shard counts of itself is what happened to it. */
  private void checkWritten() {
    Written written = Objects.requireNonNull(state.written());
    assertThat(written.runs()).as("runs appended").isEqualTo(runsAppended);
    assertThat((double) written.bytes())
        .as("bytes appended")
        .isCloseTo(Math.min(bytesAppended, 9.2e18), withinPercentage(1e-6));
    assertThat((double) written.merged())
        .as("bytes merged")
        .isCloseTo(Math.min(bytesMerged, 9.2e18), withinPercentage(1));
    assertThat(Bounds.of(state.spec(), written).depth())
        .as("L")
        .isGreaterThanOrEqualTo(depth() - 1e-9);
  }

  /** WriteBound; what was appended before is given where the shard has seen several specs. */
  void checkWriteBound(boolean cancels) {
    checkWritten();
    double sigma = state.spec().space();
    double bound = depth() + 2 + (cancels ? 1 : 2 * sigma) / (sigma - 1);
    assertThat((bytesAppended + bytesMerged) / bytesAppended)
        .as("write amplification")
        .isLessThanOrEqualTo(bound);
  }

  /** SpaceBound, at a moment when nothing is wanted or under way. */
  void checkSpaceBound() {
    SpineSpec spec = state.spec();
    double bytes = 0;
    double garbage = 0;
    for (Batch batch : state.batches()) {
      if (batch.maxTime() > state.since().time()) {
        return;
      }
      boolean settledOldest = bytes == 0 && Spine.isSettled(batch);
      bytes += batch.bytes();
      garbage += settledOldest ? 0 : Spine.garbage(batch);
      if (bytes >= (double) spec.fanIn() * spec.baseBytes()) {
        assertThat(garbage).as("garbage").isLessThanOrEqualTo((1 - 1 / spec.space()) * bytes);
      }
    }
  }

  /** No level is due, at most R runs in all, nothing is cut or being consolidated. */
  void checkRest() {
    Spine spine = spine();
    for (int level : spine.levels()) {
      assertThat(spine.count(level)).as("level " + level).isLessThan(state.spec().fanIn());
    }
    assertThat(spine.runs()).as("runs at rest").isLessThanOrEqualTo(state.spec().rest());
    assertThat(state.consolidating()).isNull();
  }

  /** Whether nothing is wanted or under way. */
  boolean rests() {
    return works.isEmpty() && planned().isEmpty();
  }

  private Spine spine() {
    return Spine.of(state.batches(), state.consolidating());
  }

  /** The batches tile [minimum, upper), levels never increase from old to new. */
  void checkOrder() {
    Frontier at = Frontier.MINIMUM;
    int level = Integer.MAX_VALUE;
    for (Batch batch : state.batches()) {
      assertThat(batch.bounds().lower()).isEqualTo(at);
      at = batch.bounds().upper();
      if (!Spine.isConsolidating(batch, state.consolidating())) {
        assertThat(batch.level()).isLessThanOrEqualTo(level);
        level = batch.level();
      }
    }
    assertThat(at).isEqualTo(state.upper());
  }

  /** What all batches hold together, at since. */
  long sum() {
    return state.batches().stream().mapToLong(batch -> batch.sum().orElseThrow()).sum();
  }

  // ---- Plans and merges

  private List<MergePlan> planned() {
    return SpinePlanner.plan(
        state.spec(), state.batches(), state.since(), state.consolidating(), inMerge());
  }

  private void plan() {
    if (released && !state.upper().isMinimum()) {
      decide(new Command.DowngradeSince(Frontier.of(state.upper().time() - 1)));
    }
    boolean promoted = true;
    while (promoted) {
      promoted = false;
      for (MergePlan plan : planned()) {
        if (plan instanceof MergePlan.Promote promote) {
          promoted |=
              decide(new Command.PromoteLevel(promote.batch(), promote.fromLevel()))
                  instanceof Decision.Commit;
        } else if (plan instanceof MergePlan.Merge merge) {
          begin(merge.level(), merge.inputs(), merge.since());
        } else if (plan instanceof MergePlan.Consolidate all) {
          decide(new Command.BeginConsolidation(all.upper()));
          begin(CONSOLIDATION, all.inputs(), all.since());
        }
      }
    }
  }

  private void begin(int level, List<String> inputs, Frontier since) {
    Set<String> wanted = new HashSet<>(inputs);
    List<Contents> rows = new ArrayList<>();
    long bytes = 0;
    for (Batch batch : state.batches()) {
      if (wanted.contains(batch.id())) {
        rows.add(contents.getOrDefault(batch.id(), Contents.NONE));
        bytes += batch.bytes();
      }
    }
    Contents output = Contents.merge(rows, since.time());
    works.add(new Work(level, inputs, since, output, Math.max(1, bytes), capacity.chunkBytes()));
  }

  private @Nullable Work first() {
    return works.stream().filter(work -> work.left > 0).min(FIRST).orElse(null);
  }

  /** Installs what is done and finds room, until nothing more does. */
  private void installAll() {
    boolean installed = true;
    while (installed) {
      installed = false;
      for (Work work : List.copyOf(works)) {
        if (work.left <= 0 && install(work)) {
          works.remove(work);
          installed = true;
        }
      }
    }
  }

  private boolean install(Work work) {
    Batch output =
        Batches.of(
            "m" + names++,
            new BatchDescription(Frontier.MINIMUM, Frontier.of(1)),
            work.since,
            0,
            runs("m" + names, work.output, 1));
    int level = work.level == CONSOLIDATION ? -1 : work.level;
    long before = Objects.requireNonNull(state.written()).forced();
    Decision decision = decide(new Command.InstallMerge(level, work.inputs, output));
    if (decision instanceof Decision.Commit) {
      work.inputs.forEach(contents::remove);
      contents.put(output.id(), work.output);
      boolean apart = Objects.requireNonNull(state.written()).forced() > before;
      bytesMerged += apart ? 0 : output.bytes();
      if (level < 0) {
        assertThat(!apart || forced).as("what rule 4 asked for is not counted apart").isTrue();
        forced = false;
      }
    } else {
      assertThat(decision)
          .isInstanceOfAny(Decision.Refusal.LevelFull.class, Decision.Refusal.Stale.class);
    }
    return !(decision instanceof Decision.Refusal.LevelFull);
  }

  private Decision decide(Command command) {
    Decision decision = ShardMachine.decide(state, command);
    if (decision instanceof Decision.Commit commit) {
      state = state.apply(commit.diff());
      log.accept(commit.diff());
    } else if (decision instanceof Decision.Refusal.Invalid invalid) {
      throw new AssertionError(command.name() + ": " + invalid.message());
    }
    return decision;
  }

  // ---- Batches

  private static Batch batch(String id, Frontier lower, long upper, Contents rows, int runs) {
    BatchDescription bounds = new BatchDescription(lower, Frontier.of(upper));
    return Batches.of(id, bounds, Frontier.MINIMUM, 0, runs(id, rows, runs));
  }

  /** So many runs that share the rows evenly; fewer where there are fewer rows. */
  private static List<List<Part>> runs(String id, Contents rows, int count) {
    List<List<Part>> runs = new ArrayList<>();
    long all = rows.rows();
    long most = Math.min(count, all);
    for (int run = 0; run < most; run++) {
      runs.add(
          List.of(
              Batches.part(
                  id + "-" + run,
                  share(all, run, most),
                  share(rows.bytes(), run, most),
                  share(rows.sum(), run, most),
                  share(rows.retracted(), run, most),
                  rows.maxTime())));
    }
    return runs;
  }

  private static long share(long all, long run, long runs) {
    long each = all / runs;
    return run == 0 ? all - each * (runs - 1) : each;
  }
}
