package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.SpineSpec;
import org.junit.jupiter.api.Test;

/**
 * AnyVersion: from any state that a shard came to under any specs, under any other: finitely many
 * merges, then no level counts N or more; no batch is lost or out of order.
 */
final class AnyVersionTest {
  @Test
  void anyStateComesToRestUnderAnySpec() {
    Law.check(
        300,
        (random, appends) -> {
          SpineRun run = new SpineRun(Specs.any(random), Capacity.UNLIMITED);
          Workload workload = Workload.any(random, run.state().spec().baseBytes());
          long sum = 0;
          for (int i = 0; i < appends; i++) {
            if (random.nextInt(40) == 0) {
              run.alter(Specs.any(random));
            }
            if (random.nextInt(40) == 0) {
              run.capacity(
                  random.nextBoolean()
                      ? Capacity.DEAD
                      : new Capacity(run.state().spec().baseBytes() * 3.0, 1 << 10));
              run.loseMergers();
            }
            Contents rows = workload.next(i, run.time());
            int most = run.state().spec().freshRuns();
            sum += run.append(rows, random.nextInt(1, most + 1)) ? rows.sum() : 0;
            run.checkOrder();
          }
          SpineSpec last = Specs.any(random);
          run.alter(last);
          run.capacity(Capacity.UNLIMITED);
          run.rest();
          run.checkRest();
          run.checkOrder();
          assertThat(run.sum()).as("sum of all counts").isEqualTo(sum);
        });
  }
}
