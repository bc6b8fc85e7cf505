package dev.tidemark.merge;

import com.sun.management.GarbageCollectionNotificationInfo;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.KeyRange;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.row.InvalidRowException;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * A merge of eight runs much larger than memory, for scripts/big-merge: planned by the spine, cut
 * into chunks, merged two at a time with the defaults of a job, and installed, as a job does it.
 * Each run takes every tenth row of the one before back. Checks counts, sums, and a checksum that a
 * merge must not change.
 */
final class BigMerge {
  private static final int RUNS = 8;
  private static final int RETRACTED_EVERY = 10;
  private static final int TEXT_BYTES = 200;
  private static final int RANDOM_BYTES = 96;
  private static final int PART_BYTES = 128 << 20;
  private static final int CHUNK_BYTES = 256 << 20;
  private static final int AT_A_TIME = 2;
  private static final Schema SCHEMA =
      Schema.parse("id BIGINT NOT NULL, v BYTES, PRIMARY KEY (id) NOT ENFORCED", 1);

  /** To it all runs are small, so that it wants them merged. */
  private static final SpineSpec SPEC = new SpineSpec(RUNS, 16, 24, 1L << 40, 2.0, true);

  private static final WriterAttempt BY =
      new WriterAttempt("big-merge", "2026-01-01T00:00:00.000Z", "1", "here");
  private static final Author AUTHOR = new Author(BY, "merge");

  private final ObjectStore store;
  private final ShardLog log;
  private final PartKeys keys = new PartKeys(Clock.systemUTC(), new SecureRandom());
  private final PartStore parts;
  private final AtomicLong liveBytes = new AtomicLong();

  private BigMerge(Path folder) throws IOException {
    store = Stores.open(folder.toUri().toString(), StoreSettings.DEFAULT);
    log = new ShardLog(store);
    if (!log.refresh().exists()) {
      commit(new Command.Create("big", SCHEMA, SPEC));
    }
    parts = new PartStore(store, "big", PART_BYTES, keys);
  }

  /** {@code fill FOLDER GIB} or {@code merge FOLDER}. */
  public static void main(String[] args) throws Exception {
    BigMerge big = new BigMerge(Path.of(args[1]).resolve("shard"));
    Path expected = Path.of(args[1]).resolve("expected");
    if (args[0].equals("fill")) {
      long bytes = (long) (Double.parseDouble(args[2]) * (1L << 30));
      Files.writeString(expected, big.fill(bytes).toString());
    } else if (!big.merge().equals(Files.readString(expected))) {
      System.exit(1);
    }
  }

  private void commit(Command command) throws IOException {
    CommitResult result = log.commit(command, AUTHOR);
    if (!(result instanceof CommitResult.Committed)) {
      throw new IOException(command.name() + ": " + result);
    }
  }

  // ---- Rows

  /** What must be the same before and after. */
  private record Sums(long rows, long diffs, long ids, long checksum) {
    Sums plus(UpdateCursor update, long id) {
      long hash = 1;
      for (int i = 0; i < update.rowLength(); i++) {
        hash = hash * 31 + update.row()[update.rowOffset() + i];
      }
      long diff = update.diff();
      return new Sums(rows + 1, diffs + diff, ids + diff * id, checksum + diff * hash);
    }

    @Override
    public String toString() {
      return diffs + " rows, ids " + ids + ", checksum " + checksum;
    }
  }

  /** The updates of a run in order: its own rows, and what it takes back of the run before. */
  private static final class Run implements UpdateCursor {
    private final int number;
    private final long rows;
    private final RowCodec codec = new RowCodec(SCHEMA);
    private long next;
    private boolean takenBack;
    private byte[] row = {};
    private long id;
    private long diff;
    private Sums sums = new Sums(0, 0, 0, 0);

    Run(int number, long rows) {
      this.number = number;
      this.rows = rows;
    }

    @Override
    public boolean next() throws IOException {
      if (next == rows) {
        return false;
      }
      if (!takenBack && number > 0 && next % RETRACTED_EVERY == 0) {
        set(next * RUNS + number - 1, -1);
        takenBack = true;
      } else {
        set(next++ * RUNS + number, 1);
        takenBack = false;
      }
      sums = sums.plus(this, id);
      return true;
    }

    private void set(long newId, long newDiff) throws IOException {
      id = newId;
      diff = newDiff;
      byte[] text = new byte[TEXT_BYTES];
      long random = id;
      for (int i = 0; i < RANDOM_BYTES; i++) {
        random = random * 6364136223846793005L + 1442695040888963407L;
        text[i] = (byte) (random >>> 56);
      }
      Arrays.fill(text, RANDOM_BYTES, TEXT_BYTES, (byte) 'x');
      try {
        row = codec.encode(new Object[] {id, text});
      } catch (InvalidRowException e) {
        throw new IOException(e);
      }
    }

    @Override
    public byte[] row() {
      return row;
    }

    @Override
    public int rowOffset() {
      return 0;
    }

    @Override
    public int rowLength() {
      return row.length;
    }

    @Override
    public long time() {
      return number;
    }

    @Override
    public long diff() {
      return diff;
    }
  }

  // ---- Filling

  private Sums fill(long bytes) throws IOException {
    long rows = bytes / RUNS / (TEXT_BYTES + 8) * RETRACTED_EVERY / (RETRACTED_EVERY + 1);
    Sums all = new Sums(0, 0, 0, 0);
    for (int number = 0; number < RUNS; number++) {
      Run updates = new Run(number, rows);
      List<Part> run = parts.writeRun(updates, SCHEMA);
      BatchDescription bounds =
          new BatchDescription(
              number == 0 ? Frontier.MINIMUM : Frontier.of(number), Frontier.of(number + 1));
      commit(new Command.Append(BY, List.of(batch("r" + number, bounds, run))));
      Sums sums = updates.sums;
      all =
          new Sums(
              all.rows + sums.rows,
              all.diffs + sums.diffs,
              all.ids + sums.ids,
              all.checksum + sums.checksum);
    }
    commit(new Command.DowngradeSince(Frontier.of(RUNS - 1)));
    return all;
  }

  private static Batch batch(String id, BatchDescription bounds, List<Part> run) {
    List<List<Part>> runs = run.isEmpty() ? List.of() : List.of(run);
    return Batch.of(id, bounds, Frontier.MINIMUM, 0, runs, List.of(), 1);
  }

  // ---- Merging

  private String merge() throws Exception {
    watchHeap();
    long begun = System.nanoTime();
    MergePlan.Merge plan = wanted();
    ShardState state = log.known();
    List<Batch> inputs =
        state.batches().stream().filter(batch -> plan.inputs().contains(batch.id())).toList();
    List<KeyRange> ranges = MergeChunks.cut(parts, inputs, CHUNK_BYTES);
    Batch output = RunMerger.join(keys.id(), chunks(state, plan, ranges));
    commit(new Command.InstallMerge(plan.level(), plan.inputs(), output));
    long cpu = cpuNanos();
    long seconds = (System.nanoTime() - begun) / 1_000_000_000;
    say("runs in      %d", inputs.stream().mapToInt(Batch::runCount).sum());
    say("row bytes in %,d MiB", inputs.stream().mapToLong(Batch::bytes).sum() >> 20);
    say("rows in, out %,d, %,d", inputs.stream().mapToLong(Batch::rows).sum(), output.rows());
    say("chunks       %d, %d at a time", ranges.size(), AT_A_TIME);
    say("parts out    %d", output.runs().get(0).size());
    say("time, CPU    %d s, %d s", seconds, cpu / 1_000_000_000);
    say(
        "heap         %d MiB of %d MiB left by a collection, at most",
        liveBytes.get() >> 20, Runtime.getRuntime().maxMemory() >> 20);
    say("resident     %s at most", resident());
    return check(log.known().batches());
  }

  private MergePlan.Merge wanted() throws IOException {
    ShardState state = log.refresh();
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), Set.of());
    if (plans.size() == 1 && plans.get(0) instanceof MergePlan.Merge merge) {
      return merge;
    }
    throw new IOException("the spine wants not one merge but " + plans);
  }

  private List<Batch> chunks(ShardState state, MergePlan.Merge plan, List<KeyRange> ranges)
      throws InterruptedException, ExecutionException {
    RunMerger merger = new RunMerger(parts.yielding(), RunMerger.DEFAULT_MEMORY_BYTES);
    ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
    try {
      List<Future<Batch>> running = new ArrayList<>();
      for (KeyRange range : ranges) {
        RunMerger.Chunk chunk = new RunMerger.Chunk(range, 1, running.isEmpty());
        running.add(
            threads.submit(
                () ->
                    merger
                        .merge(state, plan.inputs(), plan.since(), keys.id(), chunk)
                        .orElseThrow()));
      }
      List<Batch> done = new ArrayList<>();
      for (Future<Batch> chunk : running) {
        done.add(chunk.get());
      }
      return done;
    } finally {
      threads.shutdownNow();
    }
  }

  /** Reads all rows again; whether they are what was written is for the caller to see. */
  private String check(List<Batch> batches) throws IOException {
    RowCodec codec = new RowCodec(SCHEMA);
    Sums sums = new Sums(0, 0, 0, 0);
    for (Batch batch : batches) {
      for (List<Part> run : batch.runs()) {
        try (UpdateCursor rows = parts.readRun(run, SCHEMA, SCHEMA)) {
          while (rows.next()) {
            Object[] row = codec.decode(rows.row(), rows.rowOffset(), rows.rowLength());
            sums = sums.plus(rows, (Long) row[0]);
          }
        }
      }
    }
    boolean cancelled = sums.rows == sums.diffs;
    say("left         %s%s", sums, cancelled ? "" : ": rows that should have cancelled");
    return cancelled ? sums.toString() : "";
  }

  // ---- Figures

  private static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** Notes what is left of the heap after each collection. */
  private void watchHeap() {
    Set<String> heap =
        ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toSet());
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      ((NotificationEmitter) collector)
          .addNotificationListener(
              (notification, handback) -> {
                CompositeData data = (CompositeData) notification.getUserData();
                long sum =
                    GarbageCollectionNotificationInfo.from(data)
                        .getGcInfo()
                        .getMemoryUsageAfterGc()
                        .entrySet()
                        .stream()
                        .filter(pool -> heap.contains(pool.getKey()))
                        .mapToLong(pool -> pool.getValue().getUsed())
                        .sum();
                liveBytes.accumulateAndGet(sum, Math::max);
              },
              null,
              null);
    }
  }

  private static String resident() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return "unknown";
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .map(line -> line.substring("VmHWM:".length()).strip())
        .findFirst()
        .orElse("unknown");
  }
}
