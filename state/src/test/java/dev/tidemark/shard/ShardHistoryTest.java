package dev.tidemark.shard;

import dev.tidemark.testing.Seeds;
import org.junit.jupiter.api.Test;

/** Contents, contiguity, PureReplay and AnyVersion on seeded histories. */
final class ShardHistoryTest {
  private static final int STEPS = 250;

  @Test
  void whateverActsInWhateverOrderReadsGiveWhatWasAppended() {
    Seeds.check(
        12,
        random -> {
          History history = new History(random, History.spec(random));
          for (int step = 0; step < STEPS; step++) {
            switch (random.nextInt(12)) {
              case 0, 1, 2, 3 -> history.append();
              case 4 -> history.appendAgain();
              case 5 -> history.downgradeSince();
              case 6, 7 -> history.plan();
              case 8, 9, 10 -> history.finishSome();
              default -> {
                switch (random.nextInt(5)) {
                  case 0 -> history.loseMergers();
                  case 1 -> history.changeSpec();
                  case 2 -> history.administer();
                  default -> history.finishLost();
                }
              }
            }
            history.checkContents();
          }
          history.retire();
          history.checkReplay();
        });
  }

  @Test
  void fromAnyStateUnderAnySpecFinitelyManyMergesLeadToRest() {
    Seeds.check(
        12,
        random -> {
          History history = new History(random, History.spec(random));
          for (int round = 0; round < 6; round++) {
            for (int step = 0; step < 30; step++) {
              history.append();
              history.downgradeSince();
              if (random.nextBoolean()) {
                history.plan();
                history.finishSome();
              }
            }
            history.loseMergers();
            history.changeSpec();
            history.settle();
            history.checkRest();
            history.checkContents();
            history.finishLost();
          }
          history.checkReplay();
        });
  }
}
