package dev.tidemark.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.testing.Seeds;
import org.junit.jupiter.api.Test;

/** ReadBound and WriteBound on seeded histories under one spec. */
final class BoundsHistoryTest {
  @Test
  void countedRunsKeepTheirBoundAlsoWhenMergesAreSlowOrDead() {
    Seeds.check(
        12,
        random -> {
          SpineSpec spec = History.spec(random);
          History history = new History(random, spec);
          int merging = random.nextInt(1, 100);
          for (int step = 0; step < 400; step++) {
            history.append();
            if (random.nextInt(8) == 0) {
              history.downgradeSince();
            }
            if (random.nextInt(100) < merging) {
              history.plan();
              history.finishSome();
            }
            history.checkReadBound();
          }
          history.settle();
          history.checkReadBound();
          history.checkRest();
        });
  }

  @Test
  void bytesWrittenKeepTheirBoundWhateverTheData() {
    Seeds.check(
        12,
        random -> {
          SpineSpec spec = History.spec(random);
          History history = new History(random, spec);
          for (int step = 0; step < 500; step++) {
            history.append();
            if (random.nextInt(4) == 0) {
              history.downgradeSince();
            }
            history.plan();
            history.finishSome();
            history.finishSome();
          }
          history.settle();
          Bounds bounds = Bounds.of(spec, history.runsAppended, history.bytesAppended);
          double writes =
              (double) (history.bytesAppended + history.bytesMerged) / history.bytesAppended;
          assertThat(writes).isLessThanOrEqualTo(bounds.writesAtWorst());
        });
  }
}
