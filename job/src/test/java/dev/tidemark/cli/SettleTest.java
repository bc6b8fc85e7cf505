package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.job.Main;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run does once its input has ended. */
class SettleTest {
  private static final List<String> OWN =
      List.of(
          "--shard.spec.fan-in",
          "2",
          "--shard.spec.queue",
          "40",
          "--shard.spec.rest",
          "4",
          "--checkpoint.interval",
          "50 ms");

  @TempDir private Path warehouse;

  private Said run(String... more) {
    return NumbersRun.run(warehouse, 3_000, 2_000, OWN, more);
  }

  private ShardState state() throws Exception {
    StoreSettings settings = new StoreSettings(Map.of());
    try (ObjectStore store = Stores.open(warehouse.resolve("numbers").toString(), settings)) {
      return new ShardLog(store).refresh();
    }
  }

  @Test
  void aBoundedRunEndsAtRest() throws Exception {
    Said said = run();
    assertThat(said.code()).as(said.err()).isZero();
    assertThat(said.out()).contains("\"settle\":{\"merges\":").contains("\"stopped\":false}");
    ShardState state = state();
    assertThat(SpineFigures.runs(state)).isLessThanOrEqualTo(state.spec().rest());
    assertThat(
            SpinePlanner.plan(
                state.spec(), state.batches(), state.since(), state.consolidating(), Set.of()))
        .isEmpty();
    assertThat(say("verify", "--deep", warehouse.resolve("numbers").toString()).code()).isZero();
  }

  @Test
  void whatIsToBeLeftAloneIs() throws Exception {
    Said said = run("--settle", "false", "--shard.spec.merging", "false");
    assertThat(said.code()).as(said.err()).isZero();
    assertThat(said.out()).doesNotContain("settle");
    assertThat(state().batches()).allMatch(batch -> batch.level() == 0);
  }

  @Test
  @DisplayName("P-XO-05: a bounded run seals where it is told to")
  void aBoundedRunSealsItsShards() throws Exception {
    Said said = run("--seal", "true");
    assertThat(said.code()).as(said.err()).isZero();
    assertThat(said.out()).contains("\"sealed\":[\"numbers\"]").contains("\"settle\":{");
    assertThat(state().upper().isEnd()).isTrue();
    Said rows = say("snapshot", warehouse.resolve("numbers").toString());
    assertThat(rows.code()).as(rows.err()).isZero();
    assertThat(rows.out().lines()).hasSize(3_000);
    Said again = run("--restore", "none", "--start", "append");
    assertThat(again.code()).as("nothing comes after a seal").isNotZero();
    assertThat(again.err()).contains("sealed");
  }

  @Test
  void whoWaitsSealsAndSettles() throws Exception {
    List<String> words = NumbersRun.options(warehouse, 500);
    words.addAll(
        List.of(
            "--checkpoint.dir",
            warehouse.resolve("ckpt").toString(),
            "--checkpoint.interval",
            "50 ms",
            "--wait",
            "--seal",
            "true",
            "--settle",
            "true"));
    Main.main(words.toArray(String[]::new));
    assertThat(state().upper().isEnd()).isTrue();
    assertThat(say("snapshot", warehouse.resolve("numbers").toString()).out().lines()).hasSize(500);
  }
}
