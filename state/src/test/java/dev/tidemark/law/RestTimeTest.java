package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpineSpec;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * RestTime: with no more appends and merge capacity c, every wanted merge is done within twice the
 * shard's bytes / c where merges had kept up, and within log_N(runs) + 2 times them whatever had
 * piled up; and one deadline a level for what a lost merger had taken.
 */
final class RestTimeTest {
  private static final double CHUNK = 1 << 28;

  /** In ticks. */
  private static final int DEADLINE = 30;

  @Test
  void aShardThatFallsIdleComesToRestInTimeWhateverHadPiledUp() {
    Law.check(
        500,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          double bytes = spec.baseBytes() * Math.exp(random.nextDouble(0, 3));
          SpineRun run = new SpineRun(spec, new Capacity(bytes, CHUNK));
          fill(run, random, Workload.any(random, spec.baseBytes()), appends);
          double times = Math.log(Math.max(1, run.runs())) / Math.log(spec.fanIn()) + 2;
          checkRest(run, random, times, bytes);
        });
  }

  @Test
  void aShardThatFallsIdleWhileMergesKeepUpRestsWithinTwiceItsBytes() {
    Law.check(
        500,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
          fill(run, random, Workload.any(random, spec.baseBytes()), appends);
          double bytes = spec.baseBytes() * Math.exp(random.nextDouble(0, 3));
          run.capacity(new Capacity(bytes, CHUNK));
          checkRest(run, random, 2, bytes);
        });
  }

  private static void fill(SpineRun run, RandomGenerator random, Workload workload, int appends) {
    for (int i = 0; i < appends; i++) {
      int most = run.state().spec().freshRuns();
      run.append(workload.next(i, run.time()), random.nextInt(1, most + 1));
    }
  }

  private static void checkRest(SpineRun run, RandomGenerator random, double times, double bytes) {
    boolean lost = random.nextBoolean();
    Spine spine = Spine.of(run.state().batches(), run.state().consolidating());
    double bound =
        times * run.storedBytes() / bytes + 2 + (lost ? DEADLINE * (spine.highest() + 2.0) : 0);
    long waited = 0;
    if (lost) {
      run.loseMergers();
      waited = DEADLINE;
    }
    assertThat((double) (waited + run.rest())).as("ticks to rest").isLessThanOrEqualTo(bound);
    run.checkRest();
    run.checkSpaceBound();
  }
}
