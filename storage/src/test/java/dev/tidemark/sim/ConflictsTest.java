package dev.tidemark.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.row.Seeds;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Appends and installs that get in each other's way for an hour of virtual time. */
@Timeout(60)
class ConflictsTest {
  private static final long HOUR_MILLIS = 3_600_000;
  private static final long APPEND_MILLIS = 200;
  private static final long INSTALL_MILLIS = 300;
  private static final int LEAST_LATENCY_MILLIS = 50;
  private static final int GREATEST_LATENCY_MILLIS = 500;

  /** A process with its own handle on the shard; each of its requests is under way for a while. */
  private static final class Process implements Pacing {
    final Scheduler scheduler;
    final Random random;
    final ShardLog log;
    final WriterAttempt attempt;
    long commits;
    long longestMillis;

    Process(String name, Scheduler scheduler, MemoryStore bucket, long seed) {
      this.scheduler = scheduler;
      this.random = new Random(seed);
      this.attempt = new WriterAttempt(name, "2026-11-30T00:00:00.000Z", name + "-1", "here");
      this.log =
          new ShardLog(
              new ForwardingStore(bucket) {
                @Override
                public Created putIfAbsent(String key, byte[] body) throws StoreException {
                  travel();
                  Created created = super.putIfAbsent(key, body);
                  travel();
                  return created;
                }

                @Override
                public Optional<byte[]> get(String key) throws StoreException {
                  travel();
                  Optional<byte[]> bytes = super.get(key);
                  travel();
                  return bytes;
                }

                @Override
                public List<ObjectInfo> list(String prefix, String after, int limit)
                    throws StoreException {
                  travel();
                  List<ObjectInfo> page = super.list(prefix, after, limit);
                  travel();
                  return page;
                }
              },
              this);
    }

    /** One way: half of a request's latency. */
    private void travel() {
      int spread = GREATEST_LATENCY_MILLIS - LEAST_LATENCY_MILLIS;
      scheduler.await((LEAST_LATENCY_MILLIS + random.nextInt(spread + 1)) / 2);
    }

    CommitResult commit(Command command) throws IOException {
      long begun = scheduler.nowMillis();
      CommitResult result = log.commit(command, new Author(attempt, "test"));
      if (result instanceof CommitResult.Committed) {
        commits++;
        longestMillis = Math.max(longestMillis, scheduler.nowMillis() - begun);
      }
      return result;
    }

    /** Waits until {@code millis} after {@code begun}, if that is still to come. */
    void restUntil(long at) {
      scheduler.await(Math.max(1, at - scheduler.nowMillis()));
    }

    @Override
    public Instant now() {
      return Instant.ofEpochMilli(scheduler.nowMillis());
    }

    @Override
    public long nanoTime() {
      return scheduler.nowMillis() * 1_000_000;
    }

    @Override
    public void pause(long millis) {
      scheduler.await(millis);
    }

    @Override
    public long random() {
      return random.nextLong();
    }

    @Override
    public int sideBySide() {
      return 1;
    }
  }

  @Test
  @DisplayName("P-CC-06: conflicts of appends and installs are mended in place, neither starves")
  void conflictDoesNotBecomeARestartLoop() {
    Seeds.each(1, ConflictsTest::anHour);
  }

  private static void anHour(Random random) throws Exception {
    long start = 1_796_000_000_000L;
    Scheduler scheduler = new Scheduler(start, Long.MAX_VALUE);
    MemoryStore bucket = new MemoryStore("conflicts");
    Process appends = new Process("append", scheduler, bucket, random.nextLong());
    Process installs = new Process("install", scheduler, bucket, random.nextLong());
    Schema schema = Schema.parse("id BIGINT NOT NULL", 1);
    appends.commit(new Command.Create("conflicts", schema, SpineSpec.DEFAULT));
    long end = start + HOUR_MILLIS;
    long[] full = {0};
    scheduler.start("append", 0, () -> full[0] = append(appends, end));
    scheduler.start("install", 0, () -> install(installs, end));
    scheduler.run();

    // What an exception of a commit would have been: the restart of a job.
    assertThat(scheduler.violation()).isNull();
    long races = appends.log.lostRaces() + installs.log.lostRaces();
    String figures =
        String.format(
            "%d appends, %d installs, %d and %d lost races, longest %d and %d ms, %d times full",
            appends.commits,
            installs.commits,
            appends.log.lostRaces(),
            installs.log.lostRaces(),
            appends.longestMillis,
            installs.longestMillis,
            full[0]);
    assertThat(races).as(figures).isPositive();
    assertThat(appends.commits).as(figures).isGreaterThan(3_000);
    assertThat(installs.commits).as(figures).isGreaterThan(appends.commits / 16);
    assertThat(appends.longestMillis).as(figures).isLessThan(30_000);
    assertThat(installs.longestMillis).as(figures).isLessThan(30_000);
    ShardState state = new ShardLog(bucket).refresh();
    assertThat(state.batches().stream().mapToLong(Batch::rows).sum())
        .as("rows: one an append, but for that which created the shard")
        .isEqualTo(appends.commits - 1);
    assertThat(state.batches()).as(figures).hasSizeLessThan(64);
  }

  /** How often the spine was full. */
  private static long append(Process process, long end) throws IOException {
    long full = 0;
    Frontier lower = Frontier.MINIMUM;
    for (long n = 1; process.scheduler.nowMillis() < end; ) {
      long begun = process.scheduler.nowMillis();
      Batch batch = Batches.fresh("a" + n, lower, Frontier.of(n), 1, 10, 0);
      CommitResult result = process.commit(new Command.Append(process.attempt, List.of(batch)));
      if (result instanceof CommitResult.Committed) {
        lower = Frontier.of(n);
        n++;
      } else {
        assertThat(result).isInstanceOf(CommitResult.Refused.class);
        assertThat(((CommitResult.Refused) result).refusal())
            .isInstanceOf(Decision.Refusal.SpineFull.class);
        full++;
      }
      process.restUntil(begun + APPEND_MILLIS);
    }
    return full;
  }

  private static void install(Process process, long end) throws IOException {
    for (long n = 1; process.scheduler.nowMillis() < end; n++) {
      long begun = process.scheduler.nowMillis();
      ShardState state = process.log.refresh();
      List<MergePlan> plans =
          SpinePlanner.plan(
              state.spec(), state.batches(), state.since(), state.consolidating(), Set.of());
      if (!plans.isEmpty() && plans.get(0) instanceof MergePlan.Merge merge) {
        CommitResult result = process.commit(merged("m" + n, state, merge));
        assertThat(result).isInstanceOf(CommitResult.Committed.class);
      } else if (!plans.isEmpty() && plans.get(0) instanceof MergePlan.Promote promote) {
        process.commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()));
      }
      process.restUntil(begun + INSTALL_MILLIS);
    }
  }

  private static Command merged(String id, ShardState state, MergePlan.Merge merge) {
    List<Batch> inputs = new ArrayList<>(state.batches());
    inputs.removeIf(batch -> !merge.inputs().contains(batch.id()));
    long rows = inputs.stream().mapToLong(Batch::rows).sum();
    BatchDescription bounds =
        new BatchDescription(
            inputs.get(0).bounds().lower(), inputs.get(inputs.size() - 1).bounds().upper());
    long time = bounds.upper().time() - 1;
    Batch output =
        Batches.of(
            id,
            bounds,
            Frontier.MINIMUM,
            merge.level(),
            List.of(List.of(Batches.part(id, rows, rows * 10, rows, 0, time))));
    return new Command.InstallMerge(merge.level(), merge.inputs(), output);
  }
}
