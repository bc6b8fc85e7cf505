package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.testing.Seeds;
import dev.tidemark.time.Frontier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that ends for good is begun again as a new one: from what it left, or from nothing. */
@Timeout(300)
final class RestartTest {
  private static final long PATIENCE_SECONDS = 60;

  /** Eight subtasks, and merge has a slot of its own. */
  @RegisterExtension
  static final MiniClusterExtension CLUSTER = TestJobs.cluster(new Configuration(), 9);

  @TempDir Path folder;

  /** A job that is never restarted by Flink, and whose checkpoints stay. */
  private Configuration once() {
    Configuration conf = conf();
    conf.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
    conf.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    return conf;
  }

  private Configuration conf() {
    return TestJobs.conf(folder.toUri() + "ckpt", 20);
  }

  private String savepoints() {
    return folder.toUri() + "sp";
  }

  /** The newest complete checkpoint of a job. */
  private String newestCheckpoint(JobClient job) throws Exception {
    try (Stream<Path> there = Files.list(folder.resolve("ckpt").resolve(job.getJobID() + ""))) {
      return there
          .filter(path -> Files.exists(path.resolve("_metadata")))
          .max(Comparator.comparingInt(RestartTest::numberOf))
          .orElseThrow()
          .toUri()
          .toString();
    }
  }

  private static int numberOf(Path checkpoint) {
    return Integer.parseInt(checkpoint.getFileName().toString().substring("chk-".length()));
  }

  private static KilledJob.Shape decoded(boolean byKey) {
    return new KilledJob.Shape(
        2, 1, byKey, true, false, 1, 20, null, TestShards.settings(2, 1 << 20, 64));
  }

  private static KilledJob.Shape starting(KilledJob.Shape shape, StartMode start) {
    return shape.with(shape.settings().withStart(start));
  }

  // ---- P-XO-02

  @ParameterizedTest(name = "P-XO-02: an append is stored, its answer lost; a new job goes on: {0}")
  @ValueSource(booleans = {false, true})
  void aNewJobFindsTheOldOnesAppend(boolean bySavepoint) {
    Seeds.check(
        1,
        random -> {
          KilledJob killed = new KilledJob(KilledJob.Shape.any(random, 1));
          JobClient job = killed.submit(once(), null);
          killed.awaitProgress(job);
          String from;
          if (bySavepoint) {
            // what dies is the commit of the savepoint that stops the job, or one just before it
            killed.kill(KillPoint.APPEND_STORED, 1, true);
            from = stopOrNewest(job);
          } else {
            killed.kill(KillPoint.APPEND_STORED, 1 + random.nextInt(4), true);
            killed.awaitKill(job, PATIENCE_SECONDS);
            assertThatThrownBy(() -> job.getJobExecutionResult().get())
                .hasStackTraceContaining("InjectedFailure");
            from = newestCheckpoint(job);
          }
          killed.kill(null, 1, false);
          JobClient again = killed.submit(conf(), from);
          killed.awaitProgress(again);
          killed.endAndCheck(again);
        });
  }

  private String stopOrNewest(JobClient job) throws Exception {
    try {
      return TestJobs.stop(job, savepoints());
    } catch (AssertionError killedBeforeItsSavepoint) {
      return newestCheckpoint(job);
    }
  }

  // ---- P-XO-03

  @ParameterizedTest(name = "P-XO-03: an older savepoint stops for good, by time it goes on: {0}")
  @ValueSource(booleans = {false, true})
  void anOlderSavepointThanTheShard(boolean byKey) throws Exception {
    KilledJob killed = new KilledJob(decoded(byKey));
    JobClient job = killed.submit(conf(), null);
    killed.awaitProgress(job);
    String older = job.triggerSavepoint(savepoints(), SavepointFormatType.CANONICAL).get();
    killed.awaitProgress(job);
    TestJobs.stop(job, savepoints());
    Frontier upper = killed.upper();

    Killer again = killed.kill(null, 1, false);
    JobClient rewound = killed.submit(conf(), older);
    assertThatThrownBy(() -> rewound.getJobExecutionResult().get())
        .hasStackTraceContaining("appended up to " + upper)
        .hasStackTraceContaining("but the restored state reaches only to ")
        .hasStackTraceContaining("--restore none --start resume-by-time");
    assertThat(again.lives()).as("attempts").isEqualTo(1);
    assertThat(killed.upper()).isEqualTo(upper);

    JobClient resumed =
        killed.submit(conf(), null, starting(decoded(byKey), StartMode.RESUME_BY_TIME));
    killed.awaitProgress(resumed);
    killed.endAndCheck(resumed);
    assertThat(count(resumed.getJobExecutionResult().get(), InputCounts.Fate.REPLAYED))
        .isPositive();
    assertThat(count(resumed.getJobExecutionResult().get(), InputCounts.Fate.LATE)).isZero();
  }

  private static long count(JobExecutionResult result, InputCounts.Fate fate) {
    return result.<Long>getAccumulatorResult(InputCounts.name("s0", fate));
  }

  // ---- P-XO-04

  @ParameterizedTest(name = "P-XO-04: without state on a shard that has data: by key {0}")
  @ValueSource(booleans = {false, true})
  void withoutStateUnderEachStart(boolean byKey) throws Exception {
    KilledJob killed = new KilledJob(decoded(byKey));
    JobClient job = killed.submit(conf(), null);
    killed.awaitProgress(job);
    long end = killed.pace().endSoon(10);
    job.getJobExecutionResult().get();
    PacedCheck.whole(killed, end);
    Frontier upper = killed.upper();
    killed.pace().endLater();

    Killer refusing = killed.kill(null, 1, false);
    JobClient refused = killed.submit(conf(), null);
    assertThatThrownBy(() -> refused.getJobExecutionResult().get())
        .hasStackTraceContaining("start = refuse");
    assertThat(refusing.lives()).as("attempts").isEqualTo(1);
    assertThat(killed.upper()).isEqualTo(upper);

    // the latest: new rows only
    killed.pace().beginAt(end);
    JobClient appended = killed.submit(conf(), null, starting(decoded(byKey), StartMode.APPEND));
    killed.awaitProgress(appended);
    end = killed.pace().endSoon(10);
    appended.getJobExecutionResult().get();
    PacedCheck.whole(killed, end);
    killed.pace().endLater();

    // the earliest: the same rows again, and new ones
    killed.pace().beginAt(0);
    JobClient resumed =
        killed.submit(conf(), null, starting(decoded(byKey), StartMode.RESUME_BY_TIME));
    killed.awaitProgress(resumed);
    killed.endAndCheck(resumed);
    JobExecutionResult result = resumed.getJobExecutionResult().get();
    assertThat(count(result, InputCounts.Fate.REPLAYED)).isEqualTo(end * KilledJob.SPLITS);
    assertThat(result.<Long>getAccumulatorResult(InputCounts.READ))
        .as("I5")
        .isEqualTo(
            Stream.of(InputCounts.Fate.values()).mapToLong(fate -> count(result, fate)).sum());
  }

  // ---- P-XO-06

  @ParameterizedTest(name = "P-XO-06: {0} checkpoints in a row fail, the next one succeeds")
  @ValueSource(ints = {1, 2})
  void aCheckpointFailsAndTheNextSucceeds(int failing) {
    Seeds.check(
        1,
        random -> {
          KilledJob.Shape any = KilledJob.Shape.any(random, 2);
          KilledJob.Shape shape =
              new KilledJob.Shape(
                  2, 2, true, false, any.unaligned(), 1, 20, any.retain(), any.settings());
          KilledJob killed = new KilledJob(shape);
          Configuration conf = conf();
          conf.set(
              CheckpointingOptions.CHECKPOINTING_TIMEOUT,
              Duration.ofMillis(Taps.HELD_MILLIS - 500));
          conf.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, 1_000);
          JobClient job = killed.submit(conf, null);
          killed.awaitProgress(job);
          Killer killer = killed.kill(null, 1, false);
          killer.holdSnapshots(failing);
          TestJobs.await("snapshots are held", job, () -> killer.heldSnapshots() == 0);
          killed.awaitProgress(job);
          killed.check();
          killed.endAndCheck(job);
          assertThat(killer.lives()).as("restarts").isZero();
        });
  }

  // ---- P-XO-07

  @Test
  @DisplayName(
      "P-XO-07: unaligned, eight writers under backpressure, killed with batches in flight")
  void unalignedUnderBackpressure() {
    Seeds.check(1, this::killUnderBackpressure);
  }

  private void killUnderBackpressure(RandomGenerator random) throws Exception {
    boolean byKey = random.nextBoolean();
    KilledJob.Shape shape =
        new KilledJob.Shape(
            8, 4, byKey, false, true, 1, 20, null, TestShards.settings(2, 8_000, 64));
    KilledJob killed = new KilledJob(shape);
    KillPoint point =
        List.of(KillPoint.COMPLETED, KillPoint.BATCH_EMITTED, KillPoint.APPEND_STORED)
            .get(random.nextInt(3));
    Killer killer = killed.kill(point, 5 + random.nextInt(5), random.nextBoolean());
    killer.slow("append", 30);
    JobClient job = killed.submit(conf(), null);
    try {
      killed.awaitKill(job, PATIENCE_SECONDS);
      killed.awaitProgress(job);
      killed.check();
      killed.endAndCheck(job);
    } catch (Throwable failure) {
      TestJobs.abandon(job);
      throw new AssertionError("killed at " + point + ", " + shape + ": " + failure, failure);
    }
  }
}
