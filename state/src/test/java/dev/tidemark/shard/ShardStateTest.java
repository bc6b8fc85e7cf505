package dev.tidemark.shard;

import static dev.tidemark.shard.Shards.ATTEMPT;
import static dev.tidemark.shard.Shards.append;
import static dev.tidemark.shard.Shards.created;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.testing.Batches;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ShardStateTest {
  private static final Fact UPPER_MIN = new Fact.UpperFact(Frontier.MINIMUM);
  private static final Fact UPPER_10 = new Fact.UpperFact(Frontier.of(10));

  @Test
  void beforeItsFirstVersionThereIsNoShard() {
    assertThat(ShardState.EMPTY.exists()).isFalse();
    assertThat(ShardState.EMPTY.facts()).isEmpty();
    assertThatThrownBy(ShardState.EMPTY::upper).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(ShardState.EMPTY::schema).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aNewShardHasAnIdASchemaASpecAndBothFrontiersAtTheMinimum() {
    ShardState state = created();
    assertThat(state.seqno()).isEqualTo(new SeqNo(1));
    assertThat(state.shard()).isEqualTo("shard-1");
    assertThat(state.format()).isEqualTo("1.0");
    assertThat(state.schema()).isEqualTo(Shards.SCHEMA);
    assertThat(state.upper()).isEqualTo(Frontier.MINIMUM);
    assertThat(state.since()).isEqualTo(Frontier.MINIMUM);
    assertThat(state.batches()).isEmpty();
    assertThat(state.consolidating()).isNull();
  }

  @Test
  void removingWhatIsNotThereNamesShardVersionAndFact() {
    assertThatThrownBy(() -> created().apply(new Diff(List.of(UPPER_10), List.of())))
        .isInstanceOf(CorruptShardException.class)
        .hasMessage("shard shard-1 at version 2: fact upper is removed but isn't there as it says");
  }

  @Test
  void addingWhatIsThereNamesShardVersionAndFact() {
    assertThatThrownBy(() -> created().apply(new Diff(List.of(), List.of(UPPER_10))))
        .isInstanceOf(CorruptShardException.class)
        .hasMessage("shard shard-1 at version 2: fact upper is added but is there already");
  }

  @Test
  void aBatchIsRemovedOnlyAsItIsThere() {
    ShardState state = append(created(), Batches.fresh("a", Long.MIN_VALUE, 10, 1));
    Fact other = new Fact.BatchFact(Batches.fresh("a", Long.MIN_VALUE, 11, 1));
    Fact absent = new Fact.BatchFact(Batches.fresh("b", 10, 11, 1));
    Fact same = new Fact.BatchFact(state.batches().get(0));
    assertThatThrownBy(() -> state.apply(new Diff(List.of(other), List.of())))
        .isInstanceOf(CorruptShardException.class)
        .hasMessageContaining("fact batch a is removed");
    assertThatThrownBy(() -> state.apply(new Diff(List.of(absent), List.of())))
        .isInstanceOf(CorruptShardException.class)
        .hasMessageContaining("fact batch b is removed but isn't there");
    assertThatThrownBy(() -> state.apply(new Diff(List.of(), List.of(same))))
        .isInstanceOf(CorruptShardException.class)
        .hasMessageContaining("fact batch a is added but is there already");
    assertThat(state.apply(new Diff(List.of(same), List.of())).batches()).isEmpty();
  }

  @Test
  void aStateWithoutANeededFactIsCorrupt() {
    assertThatThrownBy(() -> created().apply(new Diff(List.of(UPPER_MIN), List.of())))
        .isInstanceOf(CorruptShardException.class)
        .hasMessage("shard shard-1 at version 2 has no fact upper");
  }

  @Test
  void aRollupOfAllFactsIsTheSameState() {
    ShardState state =
        append(created(), Batches.fresh("b", Long.MIN_VALUE, 10, 1), Batches.fresh("a", 10, 20, 2));
    List<Fact> facts = new ArrayList<>(state.facts());
    assertThat(facts)
        .extracting(fact -> fact.name() + fact.id())
        .containsExactly(
            "batcha", "batchb", "schema1", "shard", "since", "spec", "upper", "writerw", "written");
    assertThat(ShardState.of(state.seqno(), facts)).isEqualTo(state);
    assertThat(state.batches()).extracting(batch -> batch.id()).containsExactly("b", "a");
    assertThat(state.writers().get("w").by()).isEqualTo(ATTEMPT);
  }

  @Test
  void unknownFactsOfALaterFormatAreKept() {
    Fact unknown = new Fact.UnknownFact("quota", "x", java.util.Map.of("bytes", "12"));
    ShardState state = created().apply(new Diff(List.of(), List.of(unknown)));
    assertThat(state.facts()).contains(unknown);
    assertThat(state.apply(new Diff(List.of(unknown), List.of())).facts()).doesNotContain(unknown);
  }
}
