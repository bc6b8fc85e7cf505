package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.Compactor;
import dev.tidemark.merge.RunMerger;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.shard.Command;
import dev.tidemark.testing.Seeds;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.random.RandomGenerator;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A job is stopped with rows that wait for their description, batches that wait for their
 * checkpoint and merges under way, and goes on with another parallelism.
 */
@Timeout(300)
final class RescaleTest {
  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  private Configuration conf() {
    return TestJobs.conf(folder.toUri() + "ckpt", 20);
  }

  private String savepoints() {
    return folder.toUri() + "sp";
  }

  @ParameterizedTest(name = "P-ST-01: parallelism {0}, six checkpoints at once: {1}")
  @CsvSource({"1 2 4 3, false", "4 2 7 1, false", "2 4 1 3, true"})
  void goesOnWithAnotherParallelism(String parallelisms, boolean six) {
    Seeds.check(1, random -> rescale(random, parallelisms, six));
  }

  private void rescale(RandomGenerator random, String parallelisms, boolean six) throws Exception {
    KilledJob.Shape any = KilledJob.Shape.any(random, 2);
    KilledJob.Shape shape = six ? any.withConcurrent(6) : any;
    KilledJob killed = new KilledJob(shape);
    String[] steps = parallelisms.split(" ");
    String savepoint = null;
    for (int step = 0; step < steps.length; step++) {
      // merges take their time, so that some are under way whenever it stops
      Killer killer = killed.kill(null, 1, false);
      killer.slow(random.nextBoolean() ? "merge" : "append", 40);
      JobClient job =
          killed.submit(conf(), savepoint, shape.withParallelism(Integer.parseInt(steps[step])));
      try {
        killed.awaitProgress(job);
        killed.check();
        if (step == steps.length - 1) {
          killer.slow("nobody", 0);
          killed.endAndCheck(job);
        } else {
          savepoint = TestJobs.stop(job, savepoints());
          killed.check();
        }
      } catch (Throwable failure) {
        TestJobs.abandon(job);
        throw new AssertionError(
            "parallelism " + steps[step] + ", " + shape + ": " + failure.getMessage(), failure);
      }
    }
  }

  /**
   * Merges are in the savepoint, unfinished, and chunks of them, and somebody else has merged it
   * all by the time the job goes on. The spine itself has no state that could be lost.
   */
  @Test
  @DisplayName("P-ST-04: the log is fifty versions further, and nothing of the old plans is left")
  void theLogIsFiftyVersionsFurther() throws Exception {
    KilledJob.Shape shape =
        new KilledJob.Shape(
            2, 1, true, false, false, 1, 20, null, TestShards.settings(1, 1 << 20, 64, 500));
    KilledJob killed = new KilledJob(shape);
    killed.kill(null, 1, false).slow("merge", 300);
    JobClient job = killed.submit(conf(), null);
    TestJobs.await(
        "level 0 is full of work", job, () -> killed.logs().get(0).refresh().batches().size() >= 6);
    String savepoint = TestJobs.stop(job, savepoints());

    ShardLog log = killed.logs().get(0);
    long before = log.refresh().seqno().value();
    Author other = TestShards.author("compactor", "2026-01-01T00:00:00.000Z");
    Compactor compactor =
        new Compactor(
            log,
            new PartStore(
                log.store(),
                log.known().shard(),
                128L << 20,
                new PartKeys(Clock.systemUTC(), new SecureRandom())),
            other,
            ShardHandle::newId,
            RunMerger.DEFAULT_MEMORY_BYTES,
            1 << 20);
    int merged = 0;
    while (compactor.step()) {
      merged++;
    }
    assertThat(merged).as("merges done elsewhere").isPositive();
    for (int i = 0; log.refresh().seqno().value() < before + 50; i++) {
      Command since = new Command.DowngradeSince(Frontier.of(PacedRows.BEGIN + i));
      assertThat(log.commit(since, other)).isInstanceOf(CommitResult.Committed.class);
    }
    killed.kill(null, 1, false);
    JobClient again = killed.submit(conf(), savepoint, shape.withParallelism(3));
    killed.awaitProgress(again);
    killed.check();
    killed.endAndCheck(again);
  }
}
