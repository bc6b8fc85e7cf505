package dev.tidemark.cli;

import static dev.tidemark.cli.Said.say;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.Hold;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import dev.tidemark.time.Frontier;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tidemark compact}, as a user meets it. */
class CompactCommandTest {
  private static final int APPENDS = 15;

  @TempDir private Path folder;

  private String url = "";
  private ObjectStore store;
  private TestShard shard;

  /** Each append rewrites the one row and adds another: upper 10 a time. */
  @BeforeEach
  void makeAShard() throws Exception {
    url = folder.resolve("orders").toString();
    store = Stores.open("file://" + url, new StoreSettings(Map.of()));
    shard = new TestShard(store, SpineSpec.DEFAULT, 1 << 20);
    for (int i = 0; i < APPENDS; i++) {
      long time = i * 10;
      List<Update> updates = new ArrayList<>();
      if (i > 0) {
        updates.add(new Update(0, "v" + (i - 1), time, -1));
      }
      updates.add(new Update(0, "v" + i, time, 1));
      updates.add(new Update(i + 1, "x", time, 1));
      shard.append(time + 10, updates.toArray(Update[]::new));
    }
  }

  @AfterEach
  void close() {
    store.close();
  }

  private ShardState state() throws Exception {
    return new ShardLog(store).refresh();
  }

  private List<String> snapshots(long from) {
    List<String> all = new ArrayList<>();
    for (long time = from; time < APPENDS * 10; time += 10) {
      Said said = say("snapshot", url, "--as-of", Long.toString(time));
      assertThat(said.code()).as(said.err()).isZero();
      all.add(said.out());
    }
    return all;
  }

  private void refused(int code, String message, String... words) {
    Said said = say(words);
    assertThat(said.code()).as(String.join(" ", words)).isEqualTo(code);
    assertThat(said.err()).contains(message).hasLineCount(1);
  }

  @Test
  void whatIsWantedIsMergedUntilNothingIs() throws Exception {
    List<String> before = snapshots(0);
    Said said = say("compact", url);
    assertThat(said.err()).isEmpty();
    assertThat(said.out()).contains("1 merge, runs 15 -> 8, row bytes read ");
    assertThat(wanted(state())).isFalse();
    assertThat(snapshots(0)).isEqualTo(before);
    assertThat(say("compact", url).out()).contains(": nothing to merge, runs 8, in ");
  }

  @Test
  void fullMergesAllIntoOneRunOnceAndCountsItApart() throws Exception {
    shard.commit(new Command.DowngradeSince(Frontier.of(55)));
    List<String> before = snapshots(60);
    Said said = say("compact", url, "--full", "--json");
    assertThat(said.err()).isEmpty();
    assertThat(said.out())
        .contains("\"full\":true", "\"merges\":1", "\"runsBefore\":15,\"runsAfter\":1")
        .contains("\"stopped\":false,\"merging\":true,\"notes\":[]");
    assertThat(state().batches()).hasSize(1);
    assertThat(state().batches().get(0).since()).isEqualTo(Frontier.of(55));
    assertThat(state().written().forced()).isEqualTo(state().batches().get(0).bytes());
    assertThat(state().written().merged()).isZero();
    assertThat(snapshots(60)).isEqualTo(before);
    assertThat(say("verify", url, "--deep").code()).isZero();
    assertThat(say("inspect", url).out()).contains("full merges wrote ");
    assertThat(say("inspect", url, "--json").out()).contains("\"forcedBytes\":");
    assertThat(say("compact", url, "--full").out()).contains(": nothing to merge, runs 1, in ");
    // Once since has moved there is garbage to cancel: then it is worth another.
    shard.log().refresh();
    shard.commit(new Command.DowngradeSince(Frontier.of(150)));
    assertThat(say("compact", url, "--full").out()).contains("1 merge, runs 1 -> 1");
    assertThat(state().batches().get(0).rows()).isEqualTo(APPENDS + 1);
  }

  @Test
  void noMergeGoesPastWhatAHoldKeeps() throws Exception {
    shard.commit(new Command.DowngradeSince(Frontier.of(35)));
    Hold hold = new Hold(state().seqno(), Frontier.of(35), 900_000, "a report", "here");
    String reader = new Holds(shard.log()).create(hold).id();
    shard.commit(new Command.DowngradeSince(Frontier.of(95)));
    List<String> before = snapshots(100);
    Said said = say("compact", url, "--full");
    assertThat(said.code()).isZero();
    assertThat(said.out()).contains("runs 15 -> 1").contains("a hold keeps ");
    assertThat(state().batches().get(0).since()).isEqualTo(Frontier.of(35));
    assertThat(snapshots(100)).isEqualTo(before);
    // Once it is gone the same command goes on to since.
    assertThat(say("holds", url, "--drop", reader).code()).isZero();
    assertThat(say("compact", url, "--full").out()).contains("1 merge, runs 1 -> 1");
    assertThat(state().batches().get(0).since()).isEqualTo(Frontier.of(95));
    assertThat(snapshots(100)).isEqualTo(before);
  }

  @Test
  void mergingThatIsOffStopsOnlyWhoMergesByHimself() throws Exception {
    assertThat(say("alter", url, "--merging", "off").code()).isZero();
    Said said = say("compact", url);
    assertThat(said.out()).contains("runs 15 -> 8").contains("merging is off for this shard");
    assertThat(state().spec().merging()).isFalse();
  }

  @Test
  void aSealedShardIsMergedARetiredOneIsNot() throws Exception {
    assertThat(say("seal", url).code()).isZero();
    assertThat(say("compact", url, "--full").out()).contains("runs 15 -> 1");
    assertThat(state().upper().isEnd()).isTrue();
    assertThat(say("verify", url, "--deep").code()).isZero();
    assertThat(say("retire", url).code()).isZero();
    refused(Exit.NO, "is retired: there is nothing to merge", "compact", url);
    refused(Exit.USAGE, "is no shard", "compact", folder.toString());
    refused(Exit.USAGE, "no folder", "compact", folder.resolve("missing").toString());
  }

  @Test
  void anAnnouncedMergeThatNobodyDidIsDone() throws Exception {
    List<Batch> batches = state().batches();
    shard.log().refresh();
    shard.commit(new Command.ForceConsolidation(batches.get(3).bounds().upper()));
    assertThat(say("compact", url, "--full").out()).contains("2 merges", "runs 15 -> 1");
    assertThat(state().consolidating()).isNull();
  }

  private static boolean wanted(ShardState state) {
    return !SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), Set.of())
        .isEmpty();
  }
}
