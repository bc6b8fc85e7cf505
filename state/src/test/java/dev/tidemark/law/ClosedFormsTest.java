package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.Cost;
import dev.tidemark.spine.Load;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a cost is made of, against the real planner: commits of one size, merged as they come. */
final class ClosedFormsTest {
  @Test
  void mergesAndMergedBytesStayWithinTheClosedForms() {
    Law.check(
        2_000,
        (random, appends) -> {
          int fanIn = 2 + random.nextInt(14);
          int runs = 1 + random.nextInt(Math.max(1, fanIn / 2));
          SpineSpec spec = new SpineSpec(fanIn, 2 * fanIn, 1 << 20, 1 << 16, 2, true);
          SpineRun run = new SpineRun(spec, Capacity.UNLIMITED);
          Workload workload = Workload.uniform(1_000 + random.nextInt(1 << 18));
          for (int i = 0; i < appends; i++) {
            run.append(workload.next(i, run.time()), runs);
          }
          Written written = Objects.requireNonNull(run.state().written());
          Load load = new Load(1, 1, runs, 1, 1, 0);
          assertThat((double) written.merges())
              .isLessThanOrEqualTo(appends * Cost.mergesPerCommit(spec, load));
          assertThat(written.amplification())
              .isLessThanOrEqualTo(Bounds.of(spec, written).depth() + 1);
        });
  }
}
