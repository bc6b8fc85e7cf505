package dev.tidemark.merge;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.log.Author;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.read.ShardReader;
import dev.tidemark.read.TestShard;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Bounds;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What merges cost where sizes differ much, and what they may not mix up. */
class MergeCasesTest {
  private static final long MEMORY = 1 << 20;

  private final MemoryStore store = new MemoryStore("merges");
  private final Widest widest = new Widest(store);
  private int named;

  private Compactor compactor(TestShard shard) {
    PartStore parts =
        new PartStore(
            widest, "shard-of-test", 1 << 20, () -> "part/2026-11-30/m" + ++named + ".parquet");
    Author by =
        new Author(new WriterAttempt("merger", "2026-11-30T00:00:00Z", "1", "here"), "merge");
    return new Compactor(shard.log(), parts, by, () -> "m" + ++named, MEMORY, MEMORY / 2);
  }

  private static int runs(ShardState state) {
    return state.batches().stream().mapToInt(Batch::runCount).sum();
  }

  /**
   * A thousandth of the size in the catalogue, with as small a memory: a large batch, then 600
   * small ones, each of which is merged on before the next.
   */
  @Test
  @DisplayName("P-CP-06: a batch larger than memory is read in pieces, and seldom written again")
  void aBatchLargerThanMemory() throws Exception {
    SpineSpec spec = new SpineSpec(8, 16, 24, 16 << 10, 2.0, true);
    TestShard shard = new TestShard(new ShardLog(store), spec, 1 << 20);
    Compactor compactor = compactor(shard);
    List<Update> large = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      large.add(new Update(i, Long.toHexString(i * 0x9E3779B97F4A7C15L).repeat(12), 0, 1));
    }
    List<Part> run = shard.storedRun(large);
    assertThat(run.stream().mapToLong(Part::bytes).sum()).isGreaterThan(3 * MEMORY);
    shard.append(shard.batch(1, List.of(run), List.of(), false));
    for (int i = 1; i <= 600; i++) {
      shard.append(i + 1, new Update(1_000_000 + i, "small", i, 1));
      boolean wanted = true;
      for (int steps = 0; wanted; steps++) {
        assertThat(steps).as("steps after append " + i).isLessThan(10);
        int before = runs(shard.state());
        wanted = compactor.step();
        assertThat(before - runs(shard.state()))
            .as("runs less by one merge of " + spec.fanIn())
            .isBetween(0, spec.fanIn() - 1);
      }
    }
    assertThat(widest.most).as("bytes fetched at a time").isBetween(1L, 300L << 10);
    ShardState state = shard.state();
    Bounds bounds = Bounds.of(spec, state.written());
    assertThat((long) runs(state)).isLessThanOrEqualTo(bounds.runs());
    long bytes = state.batches().stream().mapToLong(Batch::bytes).sum();
    assertThat(state.written().merged()).as("bytes of merges").isLessThan(2 * bytes);
    assertThat(state.batches().stream().mapToLong(Batch::rows).sum()).isEqualTo(20_600);
  }

  /** What is there at a time, with its multiplicity, by what was ever added. */
  private static Map<String, Long> model(List<Update> all, long asOf) {
    Map<String, Long> sums = new TreeMap<>();
    for (Update update : all) {
      if (update.time() <= asOf) {
        sums.merge(update.id() + " " + update.value(), update.diff(), Long::sum);
      }
    }
    sums.values().removeIf(sum -> sum == 0);
    return sums;
  }

  private static Map<String, Long> snapshot(TestShard shard, long asOf) throws Exception {
    Map<String, Long> sums = new TreeMap<>();
    ShardReader reader = new ShardReader(shard.log());
    for (Update update : shard.drain(reader.snapshot(shard.log().refresh(), asOf))) {
      sums.merge(update.id() + " " + update.value(), update.diff(), Long::sum);
    }
    return sums;
  }

  /**
   * Key 1 changes at times 5, 7 and 8, in batches that come to lie in different levels. Key 2
   * changes at 10, 13 and 16 within one interval, and what is earlier is in the later run.
   */
  @Test
  @DisplayName("P-CP-07: the time of an update decides, not its level or when its file was made")
  void timesDecide() throws Exception {
    TestShard shard =
        new TestShard(new ShardLog(store), new SpineSpec(4, 16, 8, 1 << 20, 2.0, true), 1 << 20);
    Compactor compactor = compactor(shard);
    List<Update> all = new ArrayList<>();
    append(shard, all, 2, List.of(new Update(9, "one", 1, 1)));
    append(shard, all, 3, List.of(new Update(9, "one", 2, -1)));
    append(shard, all, 4, List.of(new Update(9, "three", 3, 1)));
    append(shard, all, 6, List.of(new Update(1, "five", 5, 1)));
    assertThat(compactor.step()).as("all go to level 1").isTrue();
    append(shard, all, 8, List.of(new Update(1, "five", 7, -1), new Update(1, "seven", 7, 1)));
    append(shard, all, 9, List.of(new Update(1, "seven", 8, -1), new Update(1, "eight", 8, 1)));
    append(
        shard,
        all,
        20,
        List.of(new Update(2, "thirteen", 16, -1), new Update(2, "sixteen", 16, 1)),
        List.of(
            new Update(2, "ten", 10, 1),
            new Update(2, "ten", 13, -1),
            new Update(2, "thirteen", 13, 1)));
    checkThroughMerges(shard, compactor, all, 0);
    shard.commit(new Command.DowngradeSince(Frontier.of(14)));
    append(shard, all, 30, List.of(new Update(3, "x", 25, 1)));
    append(shard, all, 40, List.of(new Update(3, "x", 35, -1)));
    append(shard, all, 50, List.of(new Update(2, "sixteen", 45, -1), new Update(2, "z", 45, 1)));
    append(shard, all, 60, List.of(new Update(1, "eight", 55, -1)));
    checkThroughMerges(shard, compactor, all, 14);
    List<Batch> left = shard.state().batches();
    assertThat(left.get(left.size() - 1).since()).isEqualTo(Frontier.of(14));
  }

  @SafeVarargs
  private static void append(TestShard shard, List<Update> all, long upper, List<Update>... runs)
      throws Exception {
    List<List<Part>> stored = new ArrayList<>();
    for (List<Update> run : runs) {
      stored.add(shard.storedRun(run));
      all.addAll(run);
    }
    shard.append(shard.batch(upper, stored, List.of(), false));
  }

  private static void checkThroughMerges(
      TestShard shard, Compactor compactor, List<Update> all, long since) throws Exception {
    int looks = 0;
    do {
      long upper = shard.log().refresh().upper().time();
      for (long asOf = since; asOf < upper; asOf++) {
        assertThat(snapshot(shard, asOf)).as("at " + asOf).isEqualTo(model(all, asOf));
      }
      looks++;
    } while (compactor.step());
    assertThat(looks).as("before and after a merge").isGreaterThan(1);
  }
}
