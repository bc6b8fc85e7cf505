package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * ReadBound, WriteBound and SpaceBound where somebody has all batches merged into one now and then,
 * rows past since among them: what that writes is counted apart, and no law minds what it leaves.
 */
final class FullMergeTest {
  @Test
  void theLawsHoldWhateverIsForced() {
    Law.check(
        800,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run =
              new SpineRun(
                  spec,
                  random.nextBoolean()
                      ? Capacity.UNLIMITED
                      : new Capacity(
                          spec.baseBytes() * Math.exp(random.nextDouble(0, 5)),
                          spec.baseBytes() * Math.exp(random.nextDouble(0, 5))));
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(200) == 0) {
              run.hold(random.nextBoolean());
            }
            List<Batch> batches = run.state().batches();
            if (random.nextInt(40) == 0 && !batches.isEmpty()) {
              int upTo = random.nextBoolean() ? batches.size() : random.nextInt(batches.size()) + 1;
              run.force(batches.get(upTo - 1).bounds().upper());
            }
            run.append(workload.next(i, run.time()), random.nextInt(1, spec.freshRuns() + 1));
            run.checkReadBound();
            run.checkOrder();
            if (run.rests()) {
              run.checkSpaceBound();
            }
          }
          run.hold(false);
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkRest();
          run.checkSpaceBound();
          run.checkWriteBound(false);
        });
  }

  @Test
  void aForcedMergeOfAllLeavesOneRun() {
    SpineSpec spec = SpineSpec.DEFAULT;
    SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
    run.hold(true);
    for (int i = 0; i < 100; i++) {
      run.append(Contents.loose(run.time(), 100, 0), 1);
    }
    assertThat(run.runs()).isGreaterThan(1);
    run.force(run.state().upper());
    run.rest();
    assertThat(run.runs()).isEqualTo(1);
    run.checkWriteBound(false);
  }
}
