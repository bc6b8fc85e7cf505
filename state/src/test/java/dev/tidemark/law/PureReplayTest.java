package dev.tidemark.law;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.shard.Diff;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * PureReplay: a shard rebuilt from its log, or from the facts at any version and the log after it,
 * is the one that was kept, and wants the same merges.
 */
final class PureReplayTest {
  @Test
  void theRebuiltShardIsTheOneThatWasKeptAndWantsTheSame() {
    Law.check(
        300,
        (random, appends) -> {
          SpineSpec spec = Specs.any(random);
          SpineRun run = new SpineRun(spec, new Capacity(spec.baseBytes() * 4.0, 1 << 14));
          Workload workload = Workload.any(random, spec.baseBytes());
          ShardState start = run.state();
          List<Diff> log = new ArrayList<>();
          run.tell(log::add);
          for (int i = 0; i < appends; i++) {
            run.append(workload.next(i, run.time()), random.nextInt(1, spec.freshRuns() + 1));
          }
          int rollup = random.nextInt(log.size());
          ShardState replayed = start;
          for (int i = 0; i < log.size(); i++) {
            if (i == rollup) {
              replayed = ShardState.of(replayed.seqno(), replayed.facts());
            }
            replayed = replayed.apply(log.get(i));
          }
          assertThat(replayed).isEqualTo(run.state());
          for (Set<String> busy : List.of(Set.<String>of(), run.inMerge())) {
            assertThat(plans(replayed, busy)).isEqualTo(plans(run.state(), busy));
          }
        });
  }

  private static List<?> plans(ShardState state, Set<String> busy) {
    return SpinePlanner.plan(
        state.spec(), state.batches(), state.since(), state.consolidating(), busy);
  }
}
