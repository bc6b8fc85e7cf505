package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.SpineSpec;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * NoStall: with K of at least 2N and the lowest level first, no append is refused while, over every
 * N appends in a row, rate * (L + 1/(sigma - 1)) is at most 0.9 of what merges can do and a chunk
 * takes less than N commits.
 */
final class NoStallTest {
  @Test
  void noAppendIsRefusedAtNineTenthsOfTheCapacity() {
    Law.check(
        2_000,
        (random, appends) -> {
          SpineSpec spec = spec(random);
          Workload workload =
              random.nextBoolean()
                  ? Workload.uniform(spec.baseBytes())
                  : Workload.updates(random, random.nextBoolean() ? 100 : 20_000);
          double rate = random.nextBoolean() ? spec.baseBytes() : 0;
          SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
          for (int i = 0; i < appends; i++) {
            Contents rows = workload.next(i, run.time());
            rate = Math.max(rate, rows.bytes());
            // L grows with what was appended, so what merges must be able to do grows with it.
            double bytes = rate * (run.depth() + 1 / (spec.space() - 1)) / 0.9;
            run.capacity(new Capacity(bytes, 0.9 * spec.fanIn() * bytes));
            assertThat(run.append(rows, 1)).as("append " + i + " of " + workload).isTrue();
          }
          assertThat(run.refusals()).isZero();
        });
  }

  @Test
  void aBurstAboveTheCapacityWaitsAndIsWorkedOff() {
    SpineSpec spec = SpineSpec.DEFAULT;
    SpineRun run = new SpineRun(spec, new Capacity(spec.baseBytes(), 4.0 * spec.baseBytes()));
    int i = 0;
    while (run.append(Contents.loose(run.time(), spec.baseBytes() * 20L, 0), 1)) {
      i++;
    }
    assertThat(i).isGreaterThanOrEqualTo(spec.queue());
    run.rest();
    assertThat(run.append(Contents.loose(run.time(), 1, 0), 1)).isTrue();
  }

  private static SpineSpec spec(RandomGenerator random) {
    int fanIn = random.nextInt(2, 10);
    return new SpineSpec(
        fanIn,
        2 * fanIn + random.nextInt(3),
        2 * fanIn + random.nextInt(9),
        random.nextLong(500, 5_000),
        random.nextDouble(1.3, 4),
        true);
  }
}
