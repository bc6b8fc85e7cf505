package dev.tidemark.store.s3;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogIntervals;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.Compactor;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.read.AsOf;
import dev.tidemark.read.HeldReader;
import dev.tidemark.read.ReadRefusedException;
import dev.tidemark.read.ShardReader;
import dev.tidemark.read.TestShard;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.read.Verifier;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Several writers, a compactor, a collector and a reader at once on one shard in a real store, each
 * with a connection of its own to it; beside them a model of what was acknowledged. A step that
 * fails is taken again, as a job does that is started again; what may not happen is a wrong row.
 */
final class S3Workload {
  /** Steps that fail in a row before a store counts as gone. */
  private static final int MOST_FAILURES = 60;

  static final SpineSpec SPEC = new SpineSpec(2, 200, 4, 200, 2.0, true);
  private static final LogIntervals INTERVALS = new LogIntervals(8, 16);
  private static final GcSettings COLLECTING =
      new GcSettings(Duration.ZERO, Duration.ofDays(7), 4096, 10_000);

  /** How long the last garbage may need to go. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Opens a store below the shard's prefix, faults and all. */
  interface Opening {
    ObjectStore open() throws IOException;
  }

  /** What a workload did. */
  record Outcome(long versions, int failures, int snapshots, int merges, long deleted) {}

  private final Opening opening;
  private final int writers;
  private final int appends;
  private final ConcurrentSkipListMap<Long, List<Update>> model = new ConcurrentSkipListMap<>();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger snapshots = new AtomicInteger();
  private final AtomicInteger merges = new AtomicInteger();
  private final AtomicInteger deleted = new AtomicInteger();
  private final AtomicBoolean ended = new AtomicBoolean();
  private final PartKeys keys = new PartKeys(Clock.systemUTC(), new SecureRandom());

  S3Workload(Opening opening, int writers, int appends) {
    this.opening = opening;
    this.writers = writers;
    this.appends = appends;
  }

  /** Pauses are a tenth as long as they would be, and time passes so many times as fast. */
  private static final class Hasty implements Pacing {
    private final Pacing real = Pacing.system();
    private final long begunNanos = real.nanoTime();
    private final long times;

    Hasty(long times) {
      this.times = times;
    }

    @Override
    public Instant now() {
      return real.now();
    }

    @Override
    public long nanoTime() {
      return begunNanos + times * (real.nanoTime() - begunNanos);
    }

    @Override
    public void pause(long millis) throws java.io.InterruptedIOException {
      real.pause(Math.min(20, millis / 10 + 1));
    }

    @Override
    public long random() {
      return real.random();
    }

    @Override
    public int sideBySide() {
      return 4;
    }
  }

  private interface Step {
    /** Whether there was anything to do. */
    boolean run() throws IOException;
  }

  /** Takes a step until it doesn't fail; a broken invariant is no failure of the store. */
  private boolean untilDone(Step step) throws IOException {
    for (int failed = 1; ; failed++) {
      try {
        return step.run();
      } catch (CorruptShardException e) {
        throw e;
      } catch (IOException e) {
        failures.incrementAndGet();
        if (failed == MOST_FAILURES) {
          throw new IOException("gives up after " + failed + " failures", e);
        }
      }
    }
  }

  Outcome run(Random random) throws Exception {
    ShardState state;
    try (ObjectStore store = opening.open()) {
      ShardLog log = log(store);
      untilDone(
          () ->
              log.commit(new Command.Create(keys.id(), TestShard.SCHEMA, SPEC), by("w"))
                  instanceof CommitResult.Committed);
    }
    ExecutorService pool = Executors.newFixedThreadPool(writers + 3);
    try {
      List<Future<?>> writing = new ArrayList<>();
      for (int n = 0; n < writers; n++) {
        String id = "w" + n;
        long seed = random.nextLong();
        writing.add(pool.submit(() -> write(id, new Random(seed))));
      }
      List<Future<?>> others =
          List.of(pool.submit(this::merge), pool.submit(this::collect), pool.submit(this::read));
      try {
        for (Future<?> writer : writing) {
          writer.get();
        }
      } finally {
        ended.set(true);
      }
      for (Future<?> other : others) {
        other.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } finally {
      pool.shutdownNow();
    }
    try (ObjectStore store = opening.open()) {
      collectAtLast(store);
      state = log(store).refresh();
    }
    return new Outcome(
        state.seqno().value(), failures.get(), snapshots.get(), merges.get(), deleted.get());
  }

  private ShardLog log(ObjectStore store) {
    return new ShardLog(store, new Hasty(1), INTERVALS);
  }

  private static Author by(String id) {
    return new Author(attempt(id), "append");
  }

  private static WriterAttempt attempt(String id) {
    return new WriterAttempt(id, "2026-11-30T00:00:00Z", id + "-1", "host");
  }

  // ---- Writers

  private @Nullable Void write(String id, Random random) throws Exception {
    try (ObjectStore store = opening.open()) {
      ShardLog log = log(store);
      untilDone(() -> log.refresh().exists());
      int appended = 0;
      while (appended < appends) {
        appended += append(id, log, random) ? 1 : 0;
      }
    }
    return null;
  }

  /** Puts rows at the upper, wherever that is; false when another came first. */
  private boolean append(String id, ShardLog log, Random random) throws IOException {
    Frontier lower = log.known().upper();
    long from = lower.isMinimum() ? 0 : lower.time();
    List<Update> rows = rows(from, random);
    Batch batch = batch(keys.id(), log, lower, Frontier.of(from + 10), rows);
    Command append = new Command.Append(attempt(id), List.of(batch));
    List<CommitResult> results = new ArrayList<>();
    untilDone(() -> results.add(log.commit(append, by(id))));
    if (results.get(0) instanceof CommitResult.Refused) {
      untilDone(() -> log.refresh().exists());
      return false;
    }
    assertThat(model.put(from, rows)).as("two appends at " + from).isNull();
    return true;
  }

  /** Some insertions, and deletions of what an append before put there. */
  private List<Update> rows(long from, Random random) {
    List<Update> rows = new ArrayList<>();
    int count = 1 + random.nextInt(40);
    for (int n = 0; n < count; n++) {
      rows.add(new Update(from * 100 + n, "v" + random.nextInt(), from + random.nextInt(10), 1));
    }
    List<Update> before = model.getOrDefault(from - 10, List.of());
    for (Update update : before) {
      if (update.diff() > 0 && random.nextInt(3) == 0) {
        rows.add(new Update(update.id(), update.value(), from + random.nextInt(10), -1));
      }
    }
    return rows;
  }

  private Batch batch(String id, ShardLog log, Frontier lower, Frontier upper, List<Update> rows)
      throws IOException {
    List<Part> run = new ArrayList<>();
    PartStore parts = parts(log);
    untilDone(() -> run.addAll(parts.writeRun(sorted(rows), TestShard.SCHEMA)));
    return batch(id, new BatchDescription(lower, upper), run);
  }

  /** An append of nothing. */
  static Command empty(Frontier lower, Frontier upper) {
    return new Command.Append(
        attempt("empty"), List.of(batch("empty", new BatchDescription(lower, upper), List.of())));
  }

  private static Batch batch(String id, BatchDescription bounds, List<Part> run) {
    List<List<Part>> runs = run.isEmpty() ? List.of() : List.of(run);
    return Batch.of(id, bounds, Frontier.MINIMUM, 0, runs, List.of(), 1);
  }

  private PartStore parts(ShardLog log) {
    return new PartStore(log.store(), log.known().shard(), 1 << 20, keys);
  }

  private static UpdateCursor sorted(List<Update> updates) {
    RowCodec codec = new RowCodec(TestShard.SCHEMA);
    RowBuffer buffer = new RowBuffer();
    for (Update update : updates) {
      try {
        byte[] row = codec.encode(new Object[] {update.id(), update.value()});
        buffer.add(row, 0, row.length, update.time(), update.diff());
      } catch (InvalidRowException e) {
        throw new AssertionError(e);
      }
    }
    return buffer.sorted();
  }

  // ---- Compactor, collector, reader

  private @Nullable Void merge() throws Exception {
    try (ObjectStore store = opening.open()) {
      ShardLog log = log(store);
      untilDone(() -> log.refresh().exists());
      Compactor compactor = new Compactor(log, parts(log), by("merge"), keys::id);
      boolean did = true;
      while (did || !ended.get()) {
        did = untilDone(compactor::step);
        merges.addAndGet(did ? 1 : 0);
        if (!did) {
          log.pacing().pause(50);
        }
      }
    }
    return null;
  }

  private @Nullable Void collect() throws Exception {
    try (ObjectStore store = opening.open()) {
      ShardLog log = impatient(store);
      untilDone(() -> log.refresh().exists());
      Collector collector = new Collector(log, by("gc"), COLLECTING);
      while (!ended.get()) {
        untilDone(() -> collectOnce(log, collector));
        log.pacing().pause(100);
      }
    }
    return null;
  }

  /** Collectors trust no clock by five seconds; a test has no time for that. */
  private static ShardLog impatient(ObjectStore store) {
    return new ShardLog(store, new Hasty(20), INTERVALS);
  }

  private boolean collectOnce(ShardLog log, Collector collector) throws IOException {
    long upper = log.refresh().upper().isMinimum() ? 0 : log.known().upper().time();
    Frontier since = Frontier.of(upper - 100).min(collector.holds().leastSince());
    if (upper > 100 && since.isAfter(log.known().since())) {
      log.commit(new Command.DowngradeSince(since), by("gc"));
    }
    deleted.addAndGet((int) collector.collect(true).partsDeleted());
    return true;
  }

  /**
   * A collector yields while the others are told to slow down, and a hold whose reader couldn't
   * take it back keeps parts until it expires: once all is quiet the holds are dropped, as a person
   * would, and what was garbage goes.
   */
  private void collectAtLast(ObjectStore store) throws IOException {
    ShardLog log = impatient(store);
    untilDone(() -> log.refresh().exists());
    Holds holds = new Holds(log);
    untilDone(
        () -> {
          for (Holds.Listed hold : holds.list()) {
            holds.drop(hold.id());
          }
          return true;
        });
    Collector collector = new Collector(log, by("gc"), COLLECTING);
    long begun = System.nanoTime();
    while (deleted.get() == 0 && System.nanoTime() - begun < PATIENCE.toNanos()) {
      untilDone(() -> collectOnce(log, collector));
      log.pacing().pause(100);
    }
  }

  private @Nullable Void read() throws Exception {
    try (ObjectStore store = opening.open()) {
      while (!ended.get()) {
        ShardLog log = log(store);
        untilDone(() -> readOnce(log));
        snapshots.incrementAndGet();
        log.pacing().pause(100);
      }
    }
    return null;
  }

  private boolean readOnce(ShardLog log) throws IOException {
    ShardState state = log.refresh();
    if (state.upper().isMinimum()) {
      return false;
    }
    long asOf = state.upper().time() - 1;
    List<Update> rows;
    HeldReader.Terms terms = new HeldReader.Terms("test", "host", 3_600_000);
    try (HeldReader reader = HeldReader.open(log, new Holds(log), terms, AsOf.at(asOf))) {
      rows = drain(reader.snapshot(0));
    } catch (ReadRefusedException e) {
      return false; // since has moved on meanwhile
    }
    awaitModel(asOf);
    assertThat(sum(rows)).as("contents at " + asOf).isEqualTo(modelAt(asOf));
    return true;
  }

  /** Writers may not have noted yet what they have committed, each its own. */
  private void awaitModel(long asOf) throws IOException {
    Pacing pacing = Pacing.system();
    for (int waits = 0; model.headMap(asOf).size() < (asOf + 1) / 10; waits++) {
      if (waits > 3_000) {
        throw new AssertionError("rows up to " + asOf + " that nobody says to have appended");
      }
      pacing.pause(10);
    }
  }

  private static List<Update> drain(UpdateCursor cursor) throws IOException {
    RowCodec codec = new RowCodec(TestShard.SCHEMA);
    List<Update> all = new ArrayList<>();
    try (cursor) {
      while (cursor.next()) {
        @Nullable Object[] row = codec.decode(cursor.row(), cursor.rowOffset(), cursor.rowLength());
        all.add(new Update((Long) row[0], (String) row[1], cursor.time(), cursor.diff()));
      }
    }
    return all;
  }

  private static Map<String, Long> sum(List<Update> updates) {
    Map<String, Long> rows = new HashMap<>();
    updates.forEach(update -> rows.merge(update.id() + update.value(), update.diff(), Long::sum));
    rows.values().removeIf(diff -> diff == 0);
    return rows;
  }

  private Map<String, Long> modelAt(long asOf) {
    return sum(
        model.values().stream()
            .flatMap(List::stream)
            .filter(update -> update.time() <= asOf)
            .toList());
  }

  /** All that was acknowledged is there, nothing else, and all of it is sound. */
  void checkEnd(ObjectStore store) throws IOException {
    ShardLog log = log(store);
    ShardState state = log.refresh();
    assertThat(model).hasSize(writers * appends);
    assertThat(state.upper()).isEqualTo(Frontier.of(10L * writers * appends));
    long last = state.upper().time() - 1;
    for (long asOf = Math.max(0, state.since().time()); asOf <= last; asOf += 33) {
      List<Update> rows = drain(new ShardReader(log).snapshot(state, asOf));
      assertThat(sum(rows)).as("contents at " + asOf).isEqualTo(modelAt(asOf));
    }
    assertThat(sum(drain(new ShardReader(log).snapshot(state, last)))).isEqualTo(modelAt(last));
    assertThat(new Verifier(log(store)).verify(true).findings()).isEmpty();
  }
}
