package dev.tidemark.bench;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What the log itself costs, on a store in memory, in CPU time of the committing thread: a commit
 * at 1,000 live batches, and tiny appends in a shard that is kept compact. Parts are named, never
 * written: nobody reads them here.
 */
public final class ShardBench {
  private static final Schema SCHEMA = Schema.parse("id BIGINT NOT NULL", 1);
  private static final WriterAttempt BY =
      new WriterAttempt("bench", "2026-11-30T00:00:00Z", "1", "here");
  private static final Author AUTHOR = new Author(BY, "append");
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final MemoryStore store = new MemoryStore("bench");
  private final ShardLog log = new ShardLog(store);
  private int named;

  private ShardBench(SpineSpec spec) throws IOException {
    commit(new Command.Create("bench", SCHEMA, spec));
  }

  /** Prints a line of JSON a figure. */
  public static void main(String[] args) throws IOException {
    for (int warmUp = 0; warmUp < 5; warmUp++) {
      manyBatches();
    }
    print("commit at 1,000 live batches", manyBatches());
    // On another shard, so that the early appends aren't those of a cold JVM.
    new ShardBench(SpineSpec.DEFAULT).appendNanos(50_000);
    tinyAppends(100_000);
  }

  private static long[] manyBatches() throws IOException {
    ShardBench bench = new ShardBench(new SpineSpec(8, 2000, 2000, 1L << 20, 2.0, false));
    long[] nanos = new long[1100];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = bench.append();
    }
    return Arrays.copyOfRange(nanos, 900, 1100);
  }

  private long[] appendNanos(int count) throws IOException {
    long[] nanos = new long[count];
    for (int i = 0; i < count; i++) {
      nanos[i] = append();
      compact();
    }
    return nanos;
  }

  private static void tinyAppends(int count) throws IOException {
    ShardBench bench = new ShardBench(SpineSpec.DEFAULT);
    long[] nanos = bench.appendNanos(count);
    print("append 500 to 1,500 of " + count, Arrays.copyOfRange(nanos, 500, 1500));
    print("last 1,000 of " + count, Arrays.copyOfRange(nanos, count - 1000, count));
    long begin = THREADS.getCurrentThreadCpuTime();
    long wall = System.nanoTime();
    ShardState state = new ShardLog(bench.store).refreshChecked();
    System.out.println(
        Json.line(
            Map.of(
                "figure",
                "open after " + count,
                "cpu_us",
                (THREADS.getCurrentThreadCpuTime() - begin) / 1000,
                "wall_us",
                (System.nanoTime() - wall) / 1000,
                "batches",
                state.batches().size(),
                "version",
                state.seqno().value())));
  }

  private static void print(String figure, long[] nanos) throws IOException {
    long[] sorted = nanos.clone();
    Arrays.sort(sorted);
    System.out.println(
        Json.line(
            Map.of(
                "figure", figure,
                "mean_us", Arrays.stream(nanos).sum() / nanos.length / 1000,
                "p50_us", sorted[sorted.length / 2] / 1000,
                "p99_us", sorted[sorted.length * 99 / 100] / 1000)));
  }

  /** Appends one row; the CPU time of it, in nanoseconds. */
  private long append() throws IOException {
    Frontier lower = log.known().upper();
    long upper = lower.isMinimum() ? 1 : lower.time() + 1;
    Batch batch =
        batch(new BatchDescription(lower, Frontier.of(upper)), Frontier.MINIMUM, 1, upper - 1);
    long begin = THREADS.getCurrentThreadCpuTime();
    commit(new Command.Append(BY, List.of(batch)));
    return THREADS.getCurrentThreadCpuTime() - begin;
  }

  /** Does all that the spine wants. */
  private void compact() throws IOException {
    while (true) {
      ShardState state = log.known();
      List<MergePlan> plans =
          SpinePlanner.plan(
              state.spec(), state.batches(), state.since(), state.consolidating(), Set.of());
      if (plans.isEmpty()) {
        return;
      }
      MergePlan plan = plans.get(0);
      if (plan instanceof MergePlan.Promote promote) {
        commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
      } else if (plan instanceof MergePlan.Merge merge) {
        Set<String> ids = Set.copyOf(merge.inputs());
        List<Batch> inputs =
            state.batches().stream().filter(batch -> ids.contains(batch.id())).toList();
        Batch last = inputs.get(inputs.size() - 1);
        Batch output =
            batch(
                new BatchDescription(inputs.get(0).bounds().lower(), last.bounds().upper()),
                merge.since(),
                inputs.stream().mapToLong(Batch::rows).sum(),
                last.maxTime());
        commit(new Command.InstallMerge(merge.level(), merge.inputs(), output));
      } else {
        throw new IllegalStateException("nothing is retracted here, so why " + plan);
      }
    }
  }

  private void commit(Command command) throws IOException {
    CommitResult result = log.commit(command, AUTHOR);
    if (!(result instanceof CommitResult.Committed)) {
      throw new IllegalStateException(command.name() + ": " + result);
    }
  }

  private Batch batch(BatchDescription bounds, Frontier since, long rows, long maxTime) {
    String id = String.format("%026d", ++named);
    Part part =
        new Part(
            new PartLocation.Stored("part/2026-11-30/" + id + ".parquet", 500, "00c0ffee"),
            rows,
            24 * rows,
            rows,
            0,
            null,
            null,
            maxTime,
            maxTime,
            Map.of());
    return new Batch(
        id,
        bounds,
        since,
        0,
        List.of(List.of(part)),
        List.of(),
        rows,
        24 * rows,
        0,
        OptionalLong.of(rows),
        maxTime,
        false,
        1,
        Map.of());
  }
}
