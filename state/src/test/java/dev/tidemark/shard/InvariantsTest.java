package dev.tidemark.shard;

import static dev.tidemark.shard.Shards.append;
import static dev.tidemark.shard.Shards.committed;
import static dev.tidemark.shard.Shards.created;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.spine.Batch;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.Frontier;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each invariant refuses the state that breaks it, and names it. */
final class InvariantsTest {
  private static final Batch A = Batches.fresh("a", Long.MIN_VALUE, 10, 1);
  private static final Batch B = Batches.fresh("b", 10, 20, 1);

  private final ShardState state = append(created(), A, B);

  private ShardState changed(Batch from, Batch to) {
    return state.apply(
        new Diff(List.of(new Fact.BatchFact(from)), List.of(new Fact.BatchFact(to))));
  }

  private static void broken(Runnable check, String what) {
    assertThatThrownBy(check::run)
        .isInstanceOf(CorruptShardException.class)
        .hasMessageStartingWith("shard shard-1 at version 3: ")
        .hasMessageContaining(what);
  }

  @Test
  void aGapBetweenBatchesIsFound() {
    ShardState gap = changed(B, Batches.fresh("b", 11, 20, 1));
    broken(() -> Invariants.check(gap), "batch b [11, 20) should begin at 10");
  }

  @Test
  void anUpperThatIsNotTheBatchesIsFound() {
    ShardState shorter = changed(B, Batches.fresh("b", 10, 19, 1));
    broken(() -> Invariants.check(shorter), "the batches end at 19, the upper is 20");
  }

  @Test
  void aLevelThatRisesIsFound() {
    broken(() -> Invariants.check(changed(B, B.atLevel(1))), "of level 1 is behind one of level 0");
    assertThatCode(() -> Invariants.check(changed(A, A.atLevel(1)))).doesNotThrowAnyException();
  }

  @Test
  void aPartNamedTwiceIsFound() {
    Batch twice = Batches.of("b", B.bounds(), B.since(), 0, A.runs());
    broken(() -> Invariants.check(changed(B, twice)), "part/2026-11-30/a-0.parquet");
  }

  @Test
  void countsThatAreNotThoseOfThePartsAreFound() {
    Batch more =
        new Batch(
            B.id(),
            B.bounds(),
            B.since(),
            0,
            B.runs(),
            B.errors(),
            B.rows() + 1,
            B.bytes(),
            B.retracted(),
            B.sum(),
            B.maxTime(),
            false,
            1,
            B.extra());
    broken(() -> Invariants.check(changed(B, more)), "it has 11 rows");
    Batch otherSchema =
        new Batch(
            B.id(),
            B.bounds(),
            B.since(),
            0,
            B.runs(),
            B.errors(),
            B.rows(),
            B.bytes(),
            B.retracted(),
            B.sum(),
            B.maxTime(),
            false,
            2,
            B.extra());
    broken(() -> Invariants.check(changed(B, otherSchema)), "no schema 2");
  }

  @Test
  void rowsBehindTheUpperAreFound() {
    Batch late =
        Batches.of(
            "b", B.bounds(), B.since(), 0, List.of(List.of(Batches.part("late", 100, 0, 20))));
    broken(() -> Invariants.check(changed(B, late)), "its greatest time 20 isn't below its upper");
  }

  @Test
  void frontiersThatGoBackAreFound() {
    ShardState later = committed(state, new Command.DowngradeSince(Frontier.of(5)));
    Diff back =
        new Diff(
            List.of(new Fact.SinceFact(Frontier.of(5))),
            List.of(new Fact.SinceFact(Frontier.of(4))));
    assertThatThrownBy(() -> Invariants.checkTransition(later, later.apply(back)))
        .hasMessageContaining("since goes back from 5 to 4");
    Fact writer = state.writers().get("w");
    ShardState forgotten = state.apply(new Diff(List.of(writer), List.of()));
    broken(() -> Invariants.checkTransition(state, forgotten), "writer w goes back from 20");
  }

  @Test
  void aSinceOfABatchPastThatOfTheShardIsFound() {
    Batch ahead = Batches.of("b", B.bounds(), Frontier.of(3), 0, B.runs());
    broken(() -> Invariants.check(changed(B, ahead)), "was merged with since 3");
  }

  @Test
  void aNewBatchWithTooManyRunsAndAChangedOldOneAreFound() {
    Batch many = Batches.fresh("c", 10, 20, 5);
    broken(() -> Invariants.checkTransition(state, changed(B, many)), "new batch c [10, 20) has 5");
    Batch other = Batches.fresh("b", 10, 20, 2);
    broken(() -> Invariants.checkTransition(state, changed(B, other)), "changed its contents");
  }

  @Test
  void aVersionThatDoesNotFollowIsFound() {
    ShardState skipped = state.apply(new Diff(List.of(), List.of()));
    assertThatThrownBy(
            () -> Invariants.checkTransition(state, skipped.apply(new Diff(List.of(), List.of()))))
        .hasMessageContaining("doesn't follow version 2");
  }

  @Test
  void aPartOfASweptDayMayStayButNotComeIn() {
    Fact swept = new Fact.SweptFact("2026-11-30");
    ShardState sweptState = state.apply(new Diff(List.of(), List.of(swept)));
    assertThatCode(() -> Invariants.checkTransition(state, sweptState)).doesNotThrowAnyException();
    Decision decision =
        ShardMachine.decide(
            sweptState, new Command.Append(Shards.ATTEMPT, List.of(Batches.fresh("c", 20, 30, 1))));
    assertThat(decision)
        .isInstanceOfSatisfying(
            Decision.Refusal.Swept.class,
            refused -> assertThat(refused.part()).isEqualTo("part/2026-11-30/c-0.parquet"));
  }
}
