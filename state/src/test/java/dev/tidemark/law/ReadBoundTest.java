package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.SpineSpec;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * ReadBound: a shard counts at most K * (floor(L) + 1) runs at every version, twice that while a
 * consolidation is under way, and at most R at rest; whatever is appended, however slow merges are.
 */
final class ReadBoundTest {
  @Test
  void holdsAtEveryVersionWhateverMergesCanDo() {
    Law.check(
        800,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, capacity(random, spec));
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(200) == 0) {
              run.capacity(capacity(random, spec));
            }
            if (random.nextInt(300) == 0) {
              run.hold(random.nextBoolean());
            }
            boolean empty = random.nextInt(20) == 0;
            Contents rows = empty ? Contents.NONE : workload.next(i, run.time());
            int runs = random.nextInt(1, spec.freshRuns() + 1);
            for (int tries = 0; !run.append(rows, runs) && tries < 3; tries++) {
              run.checkReadBound();
            }
            run.checkReadBound();
          }
          run.hold(false);
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkRest();
        });
  }

  @Test
  void holdsWhenMergesAreDeadAsAppendsAreRefusedFirst() {
    SpineSpec spec = SpineSpec.DEFAULT;
    SpineRun run = new SpineRun(spec, Capacity.DEAD);
    int admitted = 0;
    while (run.append(Contents.loose(run.time(), 100, 0), 1)) {
      admitted++;
      run.checkReadBound();
    }
    assertThat(admitted).isEqualTo(spec.queue());
  }

  @Test
  void holdsWhereTheSpecChangesOnTheWay() {
    Law.check(
        800,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, capacity(random, spec));
          Workload workload = Workload.any(random, spec.baseBytes());
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(200) == 0) {
              run.alter(Specs.any(random));
            }
            run.append(
                workload.next(i, run.time()),
                random.nextInt(1, run.state().spec().freshRuns() + 1));
            run.checkReadBound();
          }
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkRest();
        });
  }

  private static Capacity capacity(RandomGenerator random, SpineSpec spec) {
    return switch (random.nextInt(4)) {
      case 0 -> Capacity.UNLIMITED;
      case 1 -> Capacity.DEAD;
      default ->
          new Capacity(
              spec.baseBytes() * Math.exp(random.nextDouble(-2, 4)),
              spec.baseBytes() * Math.exp(random.nextDouble(0, 5)));
    };
  }
}
