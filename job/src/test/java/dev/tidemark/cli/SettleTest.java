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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run does once its input has ended. */
class SettleTest {
  @TempDir private Path warehouse;

  private Said run(String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "run",
                "--source.connector",
                "datagen",
                "--source.rows",
                "3000",
                "--source.rate",
                "2000",
                "--shard.warehouse",
                warehouse.toString(),
                "--shard.name",
                "numbers",
                "--source.schema",
                "k STRING, ts BIGINT, v STRING",
                "--source.event-time",
                "ts",
                "--shard.spec.fan-in",
                "2",
                "--shard.spec.queue",
                "40",
                "--shard.spec.rest",
                "4",
                "--checkpoint.interval",
                "50 ms",
                "--ui.port",
                "0",
                "--parallelism",
                "1",
                "--json"));
    words.addAll(List.of(more));
    return say(words.toArray(String[]::new));
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
    Main.main(
        new String[] {
          "--source.connector",
          "datagen",
          "--source.rows",
          "500",
          "--source.schema",
          "k STRING, ts BIGINT, v STRING",
          "--source.event-time",
          "ts",
          "--shard.name",
          "numbers",
          "--shard.warehouse",
          warehouse.toString(),
          "--parallelism",
          "1",
          "--checkpoint.dir",
          warehouse.resolve("ckpt").toString(),
          "--checkpoint.interval",
          "50 ms",
          "--wait",
          "--seal",
          "true",
          "--settle",
          "true"
        });
    assertThat(state().upper().isEnd()).isTrue();
    assertThat(say("snapshot", warehouse.resolve("numbers").toString()).out().lines()).hasSize(500);
  }
}
