package dev.tidemark.law;

import dev.tidemark.spine.SpineSpec;
import org.junit.jupiter.api.Test;

/**
 * WriteBound: what appends and installed merges wrote, over what was appended, is at most L + 2 +
 * 1/(sigma - 1) where retractions cancel additions, and at most L + 2 + 2*sigma/(sigma - 1)
 * whatever the data.
 */
final class WriteBoundTest {
  @Test
  void holdsForEveryKindOfData() {
    Law.check(
        1_500,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
          Workload workload = Workload.any(random, spec.baseBytes());
          int most = random.nextBoolean() ? 1 : spec.freshRuns();
          for (int i = 0; i < appends; i++) {
            run.append(workload.next(i, run.time()), random.nextInt(1, most + 1));
            if (i % 100 == 99) {
              run.checkWriteBound(workload.cancels());
            }
          }
          run.rest();
          run.checkWriteBound(workload.cancels());
        });
  }

  @Test
  void holdsWhereMergesAreSlowAndSinceIsHeldForLongAndFreed() {
    Law.check(
        1_500,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run =
              new SpineRun(
                  spec,
                  new Capacity(
                      spec.baseBytes() * Math.exp(random.nextDouble(0, 5)),
                      spec.baseBytes() * Math.exp(random.nextDouble(0, 5))));
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(150) == 0) {
              run.hold(random.nextInt(3) > 0);
            }
            run.append(workload.next(i, run.time()), random.nextInt(1, spec.freshRuns() + 1));
          }
          run.hold(false);
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkWriteBound(false);
        });
  }
}
