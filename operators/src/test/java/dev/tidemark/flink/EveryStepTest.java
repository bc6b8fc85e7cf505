package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tidemark.testing.Seeds;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A job is killed once between two things that become durable, at every such place, in any shape;
 * {@code scripts/exactly-once} tries more seeds of each.
 */
@DisplayName("P-XO-01")
final class EveryStepTest {
  private static final int SEEDS = 2;
  private static final long PATIENCE_SECONDS = 60;

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJobs.cluster();

  @TempDir Path folder;

  @ParameterizedTest(name = "P-XO-01: killed once, {0}")
  @EnumSource(KillPoint.class)
  @Timeout(1200)
  void everyRowIsThereOnce(KillPoint point) {
    String only = System.getProperty("tidemark.point", "");
    assumeTrue(only.isBlank() || point == KillPoint.valueOf(only));
    Seeds.check(SEEDS, random -> killOnce(point, random));
  }

  private void killOnce(KillPoint point, RandomGenerator random) throws Exception {
    // each point has shapes of its own
    random.longs(point.ordinal()).forEach(unused -> {});
    KilledJob.Shape shape =
        KilledJob.Shape.any(random, point == KillPoint.ONE_SHARD_OF_MANY ? 3 : 1);
    if (point != KillPoint.ROLLUP_STORED) { // which takes 64 versions
      shape = shape.committedAnyhow(random);
    }
    if (point == KillPoint.UPLOADING || point == KillPoint.UPLOADED) {
      // on a quick machine a checkpoint has too few rows for a part of their own
      SinkSettings settings = shape.settings();
      shape = shape.with(TestShards.settings(1, 8_000, 64).withCommit(settings.commit()));
    }
    int time = 1 + random.nextInt(point.isRare() ? 1 : 6);
    KilledJob killed = new KilledJob(shape);
    Killer killer = killed.kill(point, time, random.nextBoolean());
    Configuration conf = TestJobs.conf(folder.toUri() + "ckpt", 20);
    JobClient job = killed.submit(conf, null);
    try {
      killed.awaitKill(job, PATIENCE_SECONDS);
      killed.awaitProgress(job);
      killed.check();
      killed.endAndCheck(job);
      if (point.isSurvived()) {
        assertThat(killer.lives()).as("lives").isEqualTo(1);
      } else {
        // Flink itself may fail once more where a checkpoint is under way while tasks restart
        assertThat(killer.lives()).as("lives").isGreaterThanOrEqualTo(2);
      }
    } catch (Throwable failure) {
      TestJobs.abandon(job);
      throw new AssertionError(
          "killed at time " + time + ", " + shape + ": " + failure.getMessage(), failure);
    }
  }
}
