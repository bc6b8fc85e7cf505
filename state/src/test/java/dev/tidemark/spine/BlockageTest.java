package dev.tidemark.spine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.testing.Batches;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** N = 2 and K = 3: a batch of 100 bytes is small, one of 4,000 is not. */
final class BlockageTest {
  private static final SpineSpec SPEC = new SpineSpec(2, 3, 4, 1_000, 2, true);
  private static final SpineSpec OFF = new SpineSpec(2, 3, 4, 1_000, 2, false);

  private final List<Batch> batches = new ArrayList<>();

  private void add(String id, int level, long bytes) {
    int before = batches.size();
    batches.add(
        Batches.fresh(id, Frontier.of(before), Frontier.of(before + 1), 1, bytes, 0)
            .atLevel(level));
  }

  private Blockage blockage(SpineSpec spec) {
    return Blockage.of(spec, batches, Frontier.MINIMUM, null);
  }

  @Test
  void theMergeOfALevelThatIsDue() {
    add("a", 0, 100);
    add("b", 0, 150);
    add("c", 0, 100);
    Blockage stuck = blockage(SPEC);
    assertThat(stuck)
        .isEqualTo(new Blockage(Blockage.Cause.MERGE, 0, 3, List.of("a", "b"), 2, 250));
    assertThat(stuck.message())
        .isEqualTo(
            "stuck is the merge of 2 batches of level 0 (2 of the 3 runs that it counts, 250 bytes,"
                + " oldest batch a)");
  }

  @Test
  void theLevelAboveWhereThatHasNoRoom() {
    add("a", 1, 100);
    add("b", 1, 100);
    add("c", 1, 100);
    add("d", 0, 100);
    add("e", 0, 100);
    add("f", 0, 100);
    Blockage stuck = blockage(SPEC);
    assertThat(stuck.level()).isEqualTo(1);
    assertThat(stuck.inputs()).containsExactly("a", "b");
    assertThat(stuck.levelRuns()).isEqualTo(3);
  }

  @Test
  void theLowestLevelWhereSeveralAreDue() {
    add("a", 2, 100);
    add("b", 2, 100);
    add("c", 0, 100);
    add("d", 0, 100);
    assertThat(blockage(SPEC).inputs()).containsExactly("c", "d");
  }

  @Test
  void aBatchThatBelongsHigher() {
    add("a", 0, 4_000);
    add("b", 0, 100);
    add("c", 0, 100);
    Blockage stuck = blockage(SPEC);
    assertThat(stuck)
        .isEqualTo(new Blockage(Blockage.Cause.PROMOTION, 0, 3, List.of("a"), 1, 4_000));
    assertThat(stuck.message())
        .isEqualTo("stuck is moving batch a (4000 bytes) from level 0 to the next");
  }

  @Test
  void mergingThatIsOff() {
    add("a", 0, 100);
    add("b", 0, 100);
    Blockage stuck = blockage(OFF);
    assertThat(stuck).isEqualTo(new Blockage(Blockage.Cause.MERGING_OFF, 0, 2, List.of(), 0, 0));
    assertThat(stuck.message()).contains("merging is off", "tidemark alter", "--merging on");
  }

  @Test
  void aRetiredShard() {
    add("a", 0, 100);
    add("b", 0, 100);
    assertThat(Blockage.of(SPEC, batches, Frontier.END, null).cause())
        .isEqualTo(Blockage.Cause.RETIRED);
  }

  @Test
  void nothingAtRestAndNoneOfAConsolidation() {
    add("a", 0, 100);
    assertThat(blockage(SPEC).cause()).isEqualTo(Blockage.Cause.NOTHING);
    add("b", 0, 100);
    Blockage consolidating = Blockage.of(SPEC, batches, Frontier.MINIMUM, Frontier.of(2));
    assertThat(consolidating.cause()).isEqualTo(Blockage.Cause.NOTHING);
    assertThat(consolidating.message()).isEqualTo("no merge is wanted");
  }
}
