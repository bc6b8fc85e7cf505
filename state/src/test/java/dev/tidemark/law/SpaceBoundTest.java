package dev.tidemark.law;

import dev.tidemark.spine.SpineSpec;
import org.junit.jupiter.api.Test;

/**
 * SpaceBound: when nothing is wanted or under way, of the oldest batches up to since, however many
 * one takes, the garbage beyond what the oldest could not cancel is at most 1 - 1/sigma of their
 * bytes, or they are under N*w0.
 */
final class SpaceBoundTest {
  @Test
  void holdsAtEveryQuietMoment() {
    Law.check(
        1_000,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(200) == 0) {
              run.hold(random.nextBoolean());
            }
            run.append(workload.next(i, run.time()), random.nextInt(1, spec.freshRuns() + 1));
            if (run.rests()) {
              run.checkSpaceBound();
            }
          }
          run.hold(false);
          run.rest();
          run.checkSpaceBound();
        });
  }

  @Test
  void holdsOnceASlowMergerHasCaughtUp() {
    Law.check(
        1_000,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, new Capacity(spec.baseBytes() * 2.0, 1 << 20));
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            run.append(workload.next(i, run.time()), random.nextInt(1, spec.freshRuns() + 1));
            if (run.rests()) {
              run.checkSpaceBound();
            }
          }
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkSpaceBound();
        });
  }
}
