package dev.tidemark.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/**
 * A shard beside a dumb model of it: writers, a planner and mergers act in random order, merges
 * take time, are lost and finish late. After every step the invariants hold, a rollup gives the
 * same state, and reads at several times give what the model gives: the sum of all updates.
 */
final class History {
  private static final long ROW_BYTES = 10;
  private static final int KEYS = 12;

  /** One row at one time. */
  record Row(int key, long time) implements Comparable<Row> {
    @Override
    public int compareTo(Row other) {
      int byKey = Integer.compare(key, other.key);
      return byKey != 0 ? byKey : Long.compare(time, other.time);
    }
  }

  /** A merge that somebody works on: its inputs' contents were read when it began. */
  private record Work(int level, List<String> inputs, Frontier since, TreeMap<Row, Long> rows) {}

  private final RandomGenerator random;
  private final List<Diff> diffs = new ArrayList<>();

  /** What the parts of each batch hold, by batch id; never forgotten. */
  private final Map<String, TreeMap<Row, Long>> contents = new HashMap<>();

  private final TreeMap<Row, Long> model = new TreeMap<>();
  private final List<Work> inFlight = new ArrayList<>();
  private final List<Work> lost = new ArrayList<>();
  private List<Batch> lastAppend = List.of();
  private int names;
  private ShardState state = ShardState.EMPTY;

  long runsAppended;
  long bytesAppended;
  long bytesMerged;
  long refusals;

  History(RandomGenerator random, SpineSpec spec) {
    this.random = random;
    decide(new Command.Create("shard-1", Shards.SCHEMA, spec));
  }

  ShardState state() {
    return state;
  }

  static SpineSpec spec(RandomGenerator random) {
    int fanIn = random.nextInt(2, 6);
    return new SpineSpec(
        fanIn,
        random.nextInt(2 * fanIn - 1, 3 * fanIn + 2),
        random.nextInt(2 * fanIn, 4 * fanIn),
        random.nextLong(1, 200),
        random.nextDouble(1.1, 4),
        true);
  }

  // ---- Steps

  /** Appends one to three batches, by and by with more runs, empty, cut or with errors only. */
  void append() {
    List<Batch> batches = new ArrayList<>();
    Frontier lower = state.upper();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      Frontier upper = Frontier.of(lower.isMinimum() ? 10 : lower.time() + random.nextInt(1, 20));
      batches.add(fresh(lower, upper));
      lower = upper;
    }
    Decision decision = decide(new Command.Append(Shards.ATTEMPT, batches));
    if (decision instanceof Decision.Commit commit) {
      lastAppend = batches.subList(0, commit.admitted());
      for (Batch batch : lastAppend) {
        inBounds(batch).forEach((row, diff) -> model.merge(row, diff, Long::sum));
        runsAppended += Spine.weight(batch);
        bytesAppended += batch.bytes();
      }
    } else {
      assertThat(decision).isInstanceOf(Decision.Refusal.SpineFull.class);
      refusals++;
    }
  }

  /** The answer of the last append was lost: the same once more changes nothing. */
  void appendAgain() {
    Decision decision = ShardMachine.decide(state, new Command.Append(Shards.ATTEMPT, lastAppend));
    assertThat(decision).isInstanceOf(Decision.Nothing.class);
  }

  void downgradeSince() {
    if (!state.upper().isMinimum()) {
      long from = Math.max(state.since().time(), 0);
      long to = state.upper().time();
      decide(
          new Command.DowngradeSince(Frontier.of(from >= to ? to : random.nextLong(from, to + 1))));
    }
  }

  /** Plans; promotions and announcements are committed, merges begin. Whether there was any. */
  boolean plan() {
    Set<String> busy = new HashSet<>();
    inFlight.forEach(work -> busy.addAll(work.inputs()));
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), busy);
    for (MergePlan plan : plans) {
      if (plan instanceof MergePlan.Promote promote) {
        Decision decision = decide(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
        assertThat(decision)
            .isInstanceOfAny(Decision.Commit.class, Decision.Refusal.LevelFull.class);
      } else if (plan instanceof MergePlan.Merge merge) {
        begin(merge.level(), merge.inputs(), merge.since(), busy);
      } else if (plan instanceof MergePlan.Consolidate all) {
        decide(new Command.BeginConsolidation(all.upper()));
        begin(-1, all.inputs(), all.since(), busy);
      }
    }
    return !plans.isEmpty();
  }

  private void begin(int level, List<String> inputs, Frontier since, Set<String> busy) {
    TreeMap<Row, Long> rows = new TreeMap<>();
    for (Batch batch : state.batches()) {
      if (inputs.contains(batch.id())) {
        inBounds(batch)
            .forEach(
                (row, diff) ->
                    rows.merge(
                        new Row(row.key(), Math.max(row.time(), since.time())), diff, Long::sum));
      }
    }
    rows.values().removeIf(diff -> diff == 0);
    assertThat(busy).doesNotContainAnyElementsOf(inputs);
    busy.addAll(inputs);
    inFlight.add(new Work(level, inputs, since, rows));
  }

  /** Some merge in flight is installed; one that finds no room waits. */
  void finishSome() {
    if (!inFlight.isEmpty()) {
      int index = random.nextInt(inFlight.size());
      if (!(install(inFlight.get(index)) instanceof Decision.Refusal.LevelFull)) {
        inFlight.remove(index);
      }
    }
  }

  /** Whoever merges is lost, or only not heard of: its results may still come. */
  void loseMergers() {
    lost.addAll(inFlight);
    inFlight.clear();
  }

  void finishLost() {
    if (!lost.isEmpty()) {
      install(lost.remove(random.nextInt(lost.size())));
    }
  }

  void changeSpec() {
    commit(
        new Diff(
            List.of(new Fact.SpecFact(state.spec())), List.of(new Fact.SpecFact(spec(random)))));
  }

  /** What operators and the collector do beside: contents stay, whatever it is. */
  void administer() {
    switch (random.nextInt(5)) {
      case 0 -> decide(new Command.HandOver(random.nextBoolean() ? "other" : "w"));
      case 1 -> decide(new Command.Sweep("2026-11-" + random.nextInt(10, 30)));
      case 2 -> decide(new Command.ForceConsolidation(state.upper()));
      case 3 ->
          decide(
              new Command.AlterSpec(
                  null, null, null, random.nextLong(1, 200), random.nextDouble(1.1, 4), null));
      default -> {
        decide(new Command.ForgetErrors(Frontier.of(random.nextInt(500))));
        for (Batch batch : state.batches()) {
          int renamed = batch.id().indexOf('~');
          if (renamed >= 0) {
            contents.putIfAbsent(batch.id(), contents.get(batch.id().substring(0, renamed)));
          }
        }
      }
    }
    decide(new Command.HandOver(Shards.ATTEMPT.writer()));
  }

  /** Retires the shard and empties it; each step is small, and the end is one empty batch. */
  void retire() {
    assertThat(decide(new Command.Retire("retired"))).isInstanceOf(Decision.Commit.class);
    int steps = 0;
    while (decide(new Command.Discard("empty" + steps, 3)) instanceof Decision.Commit) {
      assertThat(steps++).as("steps to empty the shard").isLessThan(10_000);
    }
    finishLost();
    assertThat(state.batches()).hasSize(1);
    assertThat(state.batches().get(0).runs()).isEmpty();
    assertThat(state.consolidating()).isNull();
  }

  /** Plans and merges until nothing is wanted any more: must end. */
  void settle() {
    int steps = 0;
    while (plan() || !inFlight.isEmpty()) {
      assertThat(steps++).as("steps to settle").isLessThan(10_000);
      inFlight.removeIf(work -> !(install(work) instanceof Decision.Refusal.LevelFull));
    }
  }

  private Decision install(Work work) {
    String id = "m" + names++;
    BatchDescription bounds = new BatchDescription(Frontier.MINIMUM, Frontier.of(1));
    List<List<Part>> runs =
        work.rows().isEmpty() ? List.of() : List.of(List.of(part(id + "-0", work.rows())));
    List<Part> errors = new ArrayList<>();
    for (Batch batch : state.batches()) {
      if (work.inputs().contains(batch.id())) {
        errors.addAll(batch.errors());
      }
    }
    Batch output = Batches.of(id, bounds, work.since(), 0, runs);
    output = Batches.withErrors(output, errors.toArray(Part[]::new));
    contents.put(id, work.rows());
    Decision decision = decide(new Command.InstallMerge(work.level(), work.inputs(), output));
    assertThat(decision).isNotInstanceOf(Decision.Refusal.Invalid.class);
    if (decision instanceof Decision.Commit) {
      bytesMerged += output.bytes();
    }
    return decision;
  }

  // ---- Batches

  private Batch fresh(Frontier lower, Frontier upper) {
    String id = "b" + names++;
    int kind = random.nextInt(12);
    if (kind == 0) {
      contents.put(id, new TreeMap<>());
      return Batches.empty(id, lower, upper);
    }
    if (kind == 1) {
      contents.put(id, new TreeMap<>());
      return Batches.withErrors(
          Batches.empty(id, lower, upper), Batches.part(id + "-e", 10, 0, upper.time() - 1));
    }
    long from = lower.isMinimum() ? 0 : lower.time();
    boolean cut = kind == 2;
    long past = cut ? 8 : 0;
    TreeMap<Row, Long> rows = new TreeMap<>();
    for (int i = random.nextInt(1, random.nextInt(10) == 0 ? 60 : 8); i > 0; i--) {
      long time = random.nextLong(from - past, upper.time() + past);
      rows.merge(new Row(random.nextInt(KEYS), time), random.nextBoolean() ? 1L : -1L, Long::sum);
    }
    rows.values().removeIf(diff -> diff == 0);
    contents.put(id, rows);
    BatchDescription bounds = new BatchDescription(lower, upper);
    Batch batch = Batches.of(id, bounds, Frontier.MINIMUM, 0, runs(id, rows));
    return cut && !rows.isEmpty() ? Batches.cut(batch, lower, upper) : batch;
  }

  /** Rows over some runs, at most as many as a fresh batch may have. */
  private List<List<Part>> runs(String id, TreeMap<Row, Long> rows) {
    int count = random.nextInt(1, state.spec().freshRuns() + 1);
    List<TreeMap<Row, Long>> shares = new ArrayList<>();
    for (int run = 0; run < count; run++) {
      shares.add(new TreeMap<>());
    }
    rows.forEach((row, diff) -> shares.get(row.key() % count).put(row, diff));
    shares.removeIf(TreeMap::isEmpty);
    List<List<Part>> runs = new ArrayList<>();
    for (int run = 0; run < shares.size(); run++) {
      runs.add(List.of(part(id + "-" + run, shares.get(run))));
    }
    return runs;
  }

  private static Part part(String name, TreeMap<Row, Long> rows) {
    long sum = rows.values().stream().mapToLong(Long::longValue).sum();
    long retracted = ROW_BYTES * rows.values().stream().filter(diff -> diff < 0).count();
    long maxTime = rows.keySet().stream().mapToLong(Row::time).max().orElseThrow();
    return Batches.part(name, rows.size(), ROW_BYTES * rows.size(), sum, retracted, maxTime);
  }

  /** What readers and merges see of a batch. */
  private TreeMap<Row, Long> inBounds(Batch batch) {
    TreeMap<Row, Long> rows = new TreeMap<>(contents.get(batch.id()));
    if (batch.cut()) {
      rows.keySet().removeIf(row -> !batch.bounds().contains(row.time()));
    }
    return rows;
  }

  // ---- Checks

  private Decision decide(Command command) {
    Decision decision = ShardMachine.decide(state, command);
    if (decision instanceof Decision.Commit commit) {
      commit(commit.diff());
    }
    return decision;
  }

  private void commit(Diff diff) {
    ShardState after = state.apply(diff);
    Invariants.checkTransition(state, after);
    Invariants.check(after);
    assertThat(ShardState.of(after.seqno(), after.facts())).isEqualTo(after);
    diffs.add(diff);
    state = after;
  }

  /** Reads at since, at upper - 1 and between give the model's contents. */
  void checkContents() {
    if (state.upper().isMinimum()) {
      return;
    }
    long last = state.upper().time() - 1;
    long first = Math.max(state.since().time(), -100);
    if (first <= last) {
      for (long time : new long[] {first, last, random.nextLong(first, last + 1)}) {
        TreeMap<Row, Long> stored = new TreeMap<>();
        state
            .batches()
            .forEach(
                batch ->
                    inBounds(batch).forEach((row, diff) -> stored.merge(row, diff, Long::sum)));
        assertThat(at(stored, time)).as("contents at " + time).isEqualTo(at(model, time));
      }
    }
  }

  private static Map<Integer, Long> at(TreeMap<Row, Long> updates, long time) {
    Map<Integer, Long> collection = new TreeMap<>();
    updates.forEach(
        (row, diff) -> {
          if (row.time() <= time) {
            collection.merge(row.key(), diff, Long::sum);
          }
        });
    collection.values().removeIf(diff -> diff == 0);
    return collection;
  }

  /** ReadBound, for a history under one spec. */
  void checkReadBound() {
    Spine spine = Spine.of(state.batches(), state.consolidating());
    long bound = Bounds.of(state.spec(), runsAppended, bytesAppended).runs();
    assertThat((long) spine.count()).as("counted runs").isLessThanOrEqualTo(bound);
    assertThat((long) spine.runs()).as("runs").isLessThanOrEqualTo(2 * bound);
  }

  /** No level counts N or more, at most R in all, nothing is cut, space is bounded. */
  void checkRest() {
    SpineSpec spec = state.spec();
    Spine spine = Spine.of(state.batches(), state.consolidating());
    for (int level : spine.levels()) {
      assertThat(spine.count(level)).as("level " + level).isLessThan(spec.fanIn());
    }
    assertThat(state.consolidating()).isNull();
    assertThat(spine.count()).isLessThanOrEqualTo(spec.rest());
    assertThat(state.batches()).noneMatch(Batch::cut);
    double bytes = 0;
    double garbage = 0;
    for (Batch batch : state.batches()) {
      if (batch.maxTime() > state.since().time()) {
        break;
      }
      boolean settledOldest = bytes == 0 && Spine.isSettled(batch);
      bytes += batch.bytes();
      garbage += settledOldest ? 0 : 2 * batch.retracted();
      boolean small = bytes < (double) spec.fanIn() * spec.baseBytes();
      assertThat(small || garbage <= (1 - 1 / spec.space()) * bytes).as("space").isTrue();
    }
  }

  /** The diffs applied one after the other give the state that was kept. */
  void checkReplay() {
    ShardState replayed = ShardState.EMPTY;
    for (Diff diff : diffs) {
      replayed = replayed.apply(diff);
    }
    assertThat(replayed).isEqualTo(state);
  }
}
