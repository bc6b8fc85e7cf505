package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcReport;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.gc.GcWorld;
import dev.tidemark.gc.GcWorld.VirtualTime;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Merges, appends and readers that meet a collector or each other at the worst moment. */
class CollectionCasesTest {
  private static final HeldReader.Terms TERMS =
      new HeldReader.Terms("test", "here", Duration.ofMinutes(15).toMillis());
  private static final SpineSpec SPEC = new SpineSpec(2, 16, 4, 1 << 20, 2.0, true);

  private interface Event {
    void happen() throws Exception;
  }

  private final VirtualTime time = new VirtualTime();
  private final MemoryStore bucket = new MemoryStore("cases", time::storeNow);

  /** What happens once, right before the next version is written. */
  private Event before = () -> {};

  private final TestShard shard =
      new TestShard(
          log(
              new ForwardingStore(bucket) {
                @Override
                public Created putIfAbsent(String key, byte[] body) throws StoreException {
                  Event event = before;
                  before = () -> {};
                  if (key.startsWith("log/0")) {
                    happen(event);
                  }
                  return super.putIfAbsent(key, body);
                }
              }),
          SPEC,
          1 << 20);

  CollectionCasesTest() throws Exception {}

  private static void happen(Event event) throws StoreException {
    try {
      event.happen();
    } catch (Exception e) {
      throw new StoreException(StoreException.Reason.OTHER, false, "meanwhile", e);
    }
  }

  private ShardLog log(dev.tidemark.store.ObjectStore store) {
    return new ShardLog(store, time, GcWorld.SHORT);
  }

  private GcReport collectEagerly() throws Exception {
    time.pass(Duration.ofMinutes(1));
    GcSettings eager = GcSettings.unsafe(Duration.ZERO, Duration.ofDays(7));
    return new Collector(log(bucket), GcWorld.BY, eager).collect(true);
  }

  private void appendFour() throws Exception {
    for (int i = 0; i < 4; i++) {
      shard.append(10 * (i + 1), new Update(i, "v", 10 * i + 1, 1));
    }
  }

  private void checkSound() throws Exception {
    assertThat(new Verifier(log(bucket)).verify(true).findings()).isEmpty();
  }

  @Test
  @DisplayName("P-GC-02: an eager collector between a merge's output and its append takes nothing")
  void aMergeInFlightKeepsItsOutput() throws Exception {
    appendFour();
    boolean[] collected = {false};
    before =
        () -> {
          time.pass(Duration.ofDays(3));
          assertThat(collectEagerly().orphansDeleted()).isZero();
          collected[0] = true;
        };
    assertThat(shard.compactOnce()).isTrue();
    assertThat(collected[0]).isTrue();
    checkSound();
  }

  @Test
  @DisplayName("P-GC-02: a swap, gc at once, and a reader that opened before reads all of it")
  void aReaderFromBeforeASwapReadsOn() throws Exception {
    appendFour();
    ShardLog handle = log(bucket);
    try (HeldReader reader = HeldReader.open(handle, new Holds(handle), TERMS, AsOf.at(39))) {
      while (shard.compactOnce()) {
        assertThat(collectEagerly().partsDeleted()).isZero();
      }
      assertThat(GcWorld.sum(shard.drain(reader.snapshot(0))))
          .isEqualTo(Map.of(0L, 1L, 1L, 1L, 2L, 1L, 3L, 1L));
    }
    assertThat(collectEagerly().partsDeleted()).isPositive();
    checkSound();
  }

  @Test
  @DisplayName("P-GC-05: while things are deleted one by one, no reader misses a file")
  void newReadersBetweenAnyTwoDeletions() throws Exception {
    GcWorld world = new GcWorld();
    world.work(40);
    world.time.pass(Duration.ofHours(2));
    int[] readers = {0};
    ForwardingStore slow =
        new ForwardingStore(world.bucket) {
          @Override
          public void delete(List<String> keys) throws StoreException {
            for (String key : keys) {
              happen(() -> readOldest(world));
              readers[0]++;
              super.delete(List.of(key));
            }
          }
        };
    world.collector(slow).collect(true);
    assertThat(readers[0]).isGreaterThan(20);
    world.checkContents();
  }

  private void readOldest(GcWorld world) throws Exception {
    ShardLog handle = world.log(world.bucket);
    long since = handle.refresh().since().time();
    try (HeldReader reader = HeldReader.open(handle, new Holds(handle), TERMS, AsOf.EARLIEST)) {
      assertThat(GcWorld.sum(world.shard.drain(reader.snapshot(0))))
          .isEqualTo(world.modelAt(since));
    }
    assertThatThrownBy(() -> HeldReader.open(handle, new Holds(handle), TERMS, AsOf.at(since - 1)))
        .isInstanceOf(ReadRefusedException.class)
        .hasMessageContaining("since is " + since);
  }
}
