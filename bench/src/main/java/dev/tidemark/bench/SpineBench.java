package dev.tidemark.bench;

import dev.tidemark.log.ShardLog;
import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartKeys;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Cost;
import dev.tidemark.spine.Load;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The spine at work on real rows, beside the model of its rules: what merges do in a second, and
 * updates of a million keys at a merge load of 0.7.
 */
public final class SpineBench {
  private static final int COMMITS = 2_000;
  private static final int UPDATES = 20_000_000;
  private static final int KEYS = 1_000_000;
  private static final double LOAD = 0.7;

  private final Path folder;
  private int shards;

  /** Row bytes of an update, as measured. */
  private long rowBytes;

  private SpineBench(Path folder) {
    this.folder = folder;
  }

  /**
   * Arguments: a folder for the shards, then for each run of the bench the runs a batch and the MiB
   * that merges are cut to, as in 1:16. A chunk must take less time than N runs (NoStall), which
   * come quickly here, so it must be far below the default.
   */
  public static void main(String[] args) throws IOException {
    SpineBench bench = new SpineBench(Path.of(args[0]));
    // Updates cancel some of what a merge reads: about as much of it as in the two together.
    double bytesPerSecond = (bench.mergeRate(true) + bench.mergeRate(false)) / 2;
    for (int i = 1; i < args.length; i++) {
      String[] sizes = args[i].split(":", -1);
      bench.updates(Integer.parseInt(sizes[0]), Long.parseLong(sizes[1]) << 20, bytesPerSecond);
    }
  }

  private ObjectStore store() throws IOException {
    return Stores.open(
        folder.resolve("shard-" + ++shards).toUri().toString(), StoreSettings.DEFAULT);
  }

  private static PartKeys keys() {
    return new PartKeys(Clock.systemUTC(), new SecureRandom());
  }

  // ---- What merges do in a second

  /** The row bytes that a merge reads in a second of CPU; prints it, and rows. */
  private double mergeRate(boolean cancel) throws IOException {
    ObjectStore store = store();
    ShardLog log = new ShardLog(store);
    ShardState created =
        SpineClock.create(
            log,
            new Command.Create(
                "bench", StoredRows.SCHEMA, new SpineSpec(8, 16, 24, 1 << 20, 2, false)));
    StoredRows rows = new StoredRows(store, created.shard(), keys(), Long.MAX_VALUE);
    List<Batch> inputs = new ArrayList<>();
    for (int run = 0; run < 8; run++) {
      inputs.add(input(rows, run, cancel));
    }
    ShardState state = SpineClock.append(log, inputs);
    Frontier since = Frontier.of(state.upper().time() - 1);
    List<Long> nanos = new ArrayList<>();
    long left = 0;
    for (int round = 0; round < 8; round++) {
      SpineRows.Merged merged = rows.merge(state, state.batches(), since, KeyRange.ALL);
      left = merged.batch().rows();
      nanos.add(merged.nanos());
    }
    long median = nanos.subList(3, 8).stream().sorted().toList().get(2);
    long read = inputs.stream().mapToLong(Batch::rows).sum();
    long bytes = inputs.stream().mapToLong(Batch::bytes).sum();
    rowBytes = bytes / read;
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("figure", cancel ? "merge, half cancels" : "merge, nothing cancels");
    figures.put("rows_in", read);
    figures.put("rows_out", left);
    figures.put("rows_per_cpu_s", Math.round(read / (median / 1e9)));
    figures.put("best_rows_per_cpu_s", Math.round(read / (Collections.min(nanos) / 1e9)));
    System.out.println(Json.line(figures));
    return bytes / (median / 1e9);
  }

  /** 250,000 updates, whose keys lie between those of the other runs. */
  private static Batch input(StoredRows rows, int run, boolean cancel) throws IOException {
    RowBuffer buffer = new RowBuffer();
    for (int i = 0; i < 250_000; i++) {
      boolean takesBack = cancel && run >= 4 && i % 2 == 0;
      // What is taken back was added by one of the first four runs.
      long key = takesBack ? i * 8L + run - 4 : i * 8L + run;
      rows.add(buffer, key, 0, run, takesBack ? -1 : 1);
    }
    Frontier lower = run == 0 ? Frontier.MINIMUM : Frontier.of(run);
    return rows.fresh(
        new BatchDescription(lower, Frontier.of(run + 1)), List.of(rows.write(buffer)));
  }

  // ---- Updates of many keys

  private void updates(int runs, long chunkBytes, double bytesPerSecond) throws IOException {
    double rate = pilot(runs, chunkBytes, tick(runs, bytesPerSecond, chunkBytes));
    long tick = tick(runs, rate, chunkBytes);
    ObjectStore model = new MemoryStore("model");
    CountedRows counted = new CountedRows(KEYS, rowBytes, rate, chunkBytes);
    run(
        "model, " + runs + " runs a batch",
        model,
        created(model),
        counted,
        new Pace(runs, chunkBytes, tick));
    ObjectStore store = store();
    ShardLog log = created(store);
    StoredRows stored = new StoredRows(store, log.known().shard(), keys(), chunkBytes);
    run("updates, " + runs + " runs a batch", store, log, stored, new Pace(runs, chunkBytes, tick));
  }

  /** The row bytes that merges of such batches read in a second: those of a shorter run. */
  private double pilot(int runs, long chunkBytes, long tick) throws IOException {
    ObjectStore store = store();
    ShardLog log = created(store);
    SpineClock clock =
        new SpineClock(log, new StoredRows(store, log.known().shard(), keys(), chunkBytes));
    clock.run(new KeyUpdates(KEYS, UPDATES / COMMITS), COMMITS / 4, runs, tick);
    return (double) clock.inputRows() * rowBytes / (clock.busyNanos() / 1e9);
  }

  /** How long a tick must be for the load wanted, by the model: a late merger has less to do. */
  private long tick(int runs, double bytesPerSecond, long chunkBytes) throws IOException {
    long tick = 1_000_000_000L;
    for (int round = 0; round < 4; round++) {
      CountedRows rows = new CountedRows(KEYS, rowBytes, bytesPerSecond, chunkBytes);
      SpineClock clock = new SpineClock(created(new MemoryStore("pace")), rows);
      clock.run(new KeyUpdates(KEYS, UPDATES / COMMITS), COMMITS, runs, tick);
      tick = (long) (clock.busyNanos() / LOAD / COMMITS);
    }
    return tick;
  }

  /** Runs a batch, what merges are cut to, and the nanoseconds from a commit to the next. */
  private record Pace(int runs, long chunkBytes, long tick) {}

  private static ShardLog created(ObjectStore store) throws IOException {
    ShardLog log = new ShardLog(store);
    SpineClock.create(log, new Command.Create("bench", StoredRows.SCHEMA, SpineSpec.DEFAULT));
    return log;
  }

  private void run(String figure, ObjectStore store, ShardLog log, SpineRows rows, Pace pace)
      throws IOException {
    KeyUpdates updates = new KeyUpdates(KEYS, UPDATES / COMMITS);
    SpineClock clock = new SpineClock(log, rows);
    clock.run(updates, COMMITS, pace.runs(), pace.tick());
    double load = (double) clock.busyNanos() / clock.nowNanos();
    clock.rest();
    ShardState state = log.known();
    Written written = Objects.requireNonNull(state.written());
    long stored = state.batches().stream().mapToLong(Batch::bytes).sum();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("figure", figure);
    figures.put("tick_ms", pace.tick() / 1_000_000);
    figures.put("chunk_mib", pace.chunkBytes() >> 20);
    figures.put("merge_load", round(load));
    figures.put("write_amplification", round(written.amplification()));
    figures.put("most_runs", clock.mostRuns());
    figures.put("runs_at_rest", state.spine().runs());
    figures.put("space_at_rest", round((double) stored / (rowBytes * updates.live())));
    figures.put("stalled_s", round(clock.stalledNanos() / 1e9));
    figures.put("merges", written.merges());
    figures.put("merge_rows_per_cpu_s", Math.round(clock.inputRows() / (clock.busyNanos() / 1e9)));
    if (rows instanceof StoredRows) {
      requests(figures, store, written, pace);
    }
    System.out.println(Json.line(figures));
  }

  private void requests(
      Map<String, Object> figures, ObjectStore store, Written written, Pace pace) {
    long puts = store.requests().puts();
    long gets = store.requests().gets();
    double seconds = COMMITS * (pace.tick() / 1e9);
    double kept = (double) KEYS * rowBytes / written.bytes();
    Load load =
        new Load(
            written.bytes() / seconds,
            pace.tick() / 1_000_000,
            pace.runs(),
            seconds / (30 * 86_400.0),
            kept,
            0);
    Cost cost = Cost.of(SpineSpec.DEFAULT, load, (double) pace.chunkBytes());
    double share = COMMITS / cost.commits();
    figures.put("puts", puts);
    figures.put("puts_closed_form", Math.round(cost.puts() * share));
    figures.put("gets", gets);
    figures.put("gets_closed_form", Math.round(cost.gets() * share));
  }

  private static double round(double figure) {
    return Math.round(figure * 100) / 100.0;
  }
}
