package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.part.PartStore;
import dev.tidemark.part.RowBlock;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.Seeds;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.time.Frontier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ShardReaderTest {
  private static final SpineSpec SMALL = new SpineSpec(4, 8, 8, 200, 2.0, true);

  private static TestShard shard(MemoryStore store) throws Exception {
    return new TestShard(store, SMALL, 1 << 20);
  }

  private static List<Update> snapshot(TestShard shard, long asOf) throws Exception {
    return shard.drain(new ShardReader(shard.log()).snapshot(shard.state(), asOf));
  }

  @Test
  void aSnapshotIsWhatIsThereAtItsTime() throws Exception {
    TestShard shard = shard(new MemoryStore("reader"));
    shard.append(10, new Update(1, "a", 3, 1), new Update(2, "b", 9, 2));
    shard.append(20, new Update(1, "a", 12, -1), new Update(1, "c", 12, 1));
    assertThat(snapshot(shard, 2)).isEmpty();
    assertThat(snapshot(shard, 3)).containsExactly(new Update(1, "a", 3, 1));
    assertThat(snapshot(shard, 11))
        .containsExactly(new Update(1, "a", 11, 1), new Update(2, "b", 11, 2));
    assertThat(snapshot(shard, 19))
        .containsExactly(new Update(1, "c", 19, 1), new Update(2, "b", 19, 2));
  }

  @Test
  @DisplayName("persist 66: not yet durable or no longer exact is refused with both frontiers")
  void whatIsNotYetDurableOrNoLongerExactIsRefusedWithBothFrontiers() throws Exception {
    TestShard shard = shard(new MemoryStore("reader"));
    assertThatThrownBy(() -> snapshot(shard, 0))
        .isInstanceOf(ReadRefusedException.class)
        .hasMessageContaining("wait");
    shard.append(20, new Update(1, "a", 3, 1));
    shard.commit(new Command.DowngradeSince(Frontier.of(10)));
    for (long asOf : new long[] {Long.MIN_VALUE, 9, 20, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> snapshot(shard, asOf))
          .isInstanceOf(ReadRefusedException.class)
          .hasMessageContaining("since is 10 (1970-01-01T00:00:00.010Z)")
          .hasMessageContaining("upper is 20");
    }
    assertThat(snapshot(shard, 10)).hasSize(1);
    assertThat(snapshot(shard, 19)).hasSize(1);
  }

  @Test
  void rowsOfACutBatchOutsideItsBoundsAreNotThere() throws Exception {
    TestShard shard = shard(new MemoryStore("reader"));
    shard.append(10, new Update(1, "a", 3, 1));
    List<Part> run =
        shard.storedRun(
            List.of(
                new Update(2, "before", 9, 1),
                new Update(3, "inside", 10, 1),
                new Update(4, "behind", 20, 1)));
    shard.append(shard.batch(20, List.of(run), List.of(), true));
    shard.append(30, new Update(5, "later", 25, 1));
    assertThat(snapshot(shard, 29)).extracting(Update::id).containsExactly(1L, 3L, 5L);
  }

  @Test
  void errorRowsAreACollectionOfTheirOwn() throws Exception {
    TestShard shard = shard(new MemoryStore("reader"));
    RowCodec codec = new RowCodec(ErrorRows.SCHEMA);
    RowBuffer buffer = new RowBuffer();
    byte[] row =
        codec.encode(
            new Object[] {"no number", "x".getBytes(StandardCharsets.UTF_8), "in.json:7", "t"});
    buffer.add(row, 0, row.length, 5, 1);
    Part errors = PartStore.inline(RowBlock.encode(buffer.sorted()), ErrorRows.SCHEMA);
    shard.append(shard.batch(10, List.of(), List.of(errors), false));
    ShardReader reader = new ShardReader(shard.log());
    assertThat(snapshot(shard, 9)).isEmpty();
    try (UpdateCursor none = reader.errors(shard.state(), 4)) {
      assertThat(none.next()).isFalse();
    }
    try (UpdateCursor found = reader.errors(shard.state(), 9)) {
      assertThat(found.next()).isTrue();
      assertThat(codec.decode(found.row(), found.rowOffset(), found.rowLength())[0])
          .isEqualTo("no number");
      assertThat(found.time()).isEqualTo(9);
      assertThat(found.next()).isFalse();
    }
  }

  @Test
  void shardsAreTheFoldersWithALog() throws Exception {
    MemoryStore warehouse = new MemoryStore("warehouse");
    shard(warehouse);
    assertThat(Shards.isShard(warehouse)).isTrue();
    new Folders(warehouse).make("orders", "customers");
    warehouse.putIfAbsent("other/file.txt", new byte[1]);
    assertThat(Shards.names(warehouse)).containsExactly("customers", "orders");
  }

  /** Shards below a warehouse. */
  private record Folders(MemoryStore warehouse) {
    void make(String... names) throws Exception {
      for (String name : names) {
        TestShard made = new TestShard(warehouse.under(name + "/"), SMALL, 1 << 20);
        made.append(10, new Update(1, "a", 3, 1));
      }
    }
  }

  /** Appends, merges and moves of since at random, against a list of all updates. */
  @Test
  void everySnapshotEqualsTheModel() {
    Seeds.each(6, ShardReaderTest::history);
  }

  private static void history(Random random) throws Exception {
    TestShard shard = new TestShard(new MemoryStore("model"), SMALL, 300);
    List<Update> all = new ArrayList<>();
    long upper = 0;
    for (int step = 0; step < 40; step++) {
      long next = upper + 1 + random.nextInt(10);
      List<List<Part>> runs = new ArrayList<>();
      for (int run = random.nextInt(3); run > 0; run--) {
        List<Update> updates = updates(random, upper, next);
        all.addAll(updates);
        runs.add(random.nextBoolean() ? shard.storedRun(updates) : shard.inlineRun(updates));
      }
      shard.append(shard.batch(next, runs, List.of(), false));
      upper = next;
      if (random.nextInt(4) == 0) {
        long since = upper - random.nextInt(15);
        if (shard.state().since().isBefore(Frontier.of(since))) {
          shard.commit(new Command.DowngradeSince(Frontier.of(since)));
        }
      }
      for (int work = random.nextInt(4); work > 0 && shard.compactOnce(); work--) {}
      while (shard.state().batches().stream().mapToInt(b -> b.runCount()).sum() > 6
          && shard.compactOnce()) {}
      long least = Math.max(-1, shard.state().since().time());
      if (least < upper) {
        long asOf = least + random.nextInt((int) (upper - least));
        assertThat(snapshot(shard, asOf)).as("as of %d", asOf).isEqualTo(model(all, asOf));
      }
    }
    Verifier.Report report = new Verifier(shard.log()).verify(true);
    assertThat(report.findings()).isEmpty();
    assertThat(report.versions()).isEqualTo(shard.state().seqno().value());
  }

  private static List<Update> updates(Random random, long lower, long upper) {
    List<Update> updates = new ArrayList<>();
    for (int i = random.nextInt(12); i > 0; i--) {
      long time = lower + random.nextInt((int) (upper - lower));
      updates.add(
          new Update(
              random.nextInt(6), random.nextBoolean() ? "x" : null, time, random.nextInt(5) - 2));
    }
    updates.removeIf(update -> update.diff() == 0);
    return updates;
  }

  private static List<Update> model(List<Update> all, long asOf) {
    Map<Update, Long> sums =
        new TreeMap<>(
            Comparator.comparingLong(Update::id)
                .thenComparing(Update::value, Comparator.nullsFirst(Comparator.naturalOrder())));
    for (Update update : all) {
      if (update.time() <= asOf) {
        sums.merge(update, update.diff(), Long::sum);
      }
    }
    List<Update> left = new ArrayList<>();
    sums.forEach(
        (row, sum) -> {
          if (sum != 0) {
            left.add(new Update(row.id(), row.value(), asOf, sum));
          }
        });
    return left;
  }
}
