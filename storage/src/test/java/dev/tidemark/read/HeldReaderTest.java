package dev.tidemark.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.gc.GcWorld;
import dev.tidemark.hold.HoldLostException;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.HeldReader.Terms;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Command;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class HeldReaderTest {
  private static final Terms TERMS = new Terms("test", "here", Duration.ofMinutes(15).toMillis());

  private GcWorld world;

  @BeforeEach
  void make() throws Exception {
    world = new GcWorld();
  }

  private HeldReader open(AsOf asOf) throws Exception {
    return open(world.bucket, asOf);
  }

  private HeldReader open(ObjectStore store, AsOf asOf) throws Exception {
    ShardLog log = world.log(store);
    return HeldReader.open(log, new Holds(log), TERMS, asOf);
  }

  private List<Update> drain(UpdateCursor cursor) throws Exception {
    return world.shard.drain(cursor);
  }

  private void collect() throws Exception {
    while (world.collector(world.bucket).collect(true).more()) {
      assertThat(world.keys("log/")).isNotEmpty();
    }
  }

  @Test
  @DisplayName("P-RD-01: a snapshot at a time not yet durable waits, or ends by name")
  void aSnapshotAheadWaits() throws Exception {
    world.work(10);
    try (HeldReader reader = open(AsOf.at(99))) {
      assertThat(GcWorld.sum(drain(reader.snapshot(0)))).isEqualTo(world.modelAt(99));
    }
    for (long ahead : new long[] {100, 150}) {
      try (HeldReader reader = open(AsOf.at(ahead))) {
        assertThatThrownBy(() -> reader.snapshot(0))
            .isInstanceOf(ReadRefusedException.class)
            .hasMessageContaining("upper is 100");
        assertThatThrownBy(() -> reader.snapshot(3_000))
            .isInstanceOf(ReadRefusedException.class)
            .hasMessageContaining("after waiting 3000 ms");
      }
    }
    boolean[] appended = {false};
    ObjectStore appending =
        new ForwardingStore(world.bucket) {
          @Override
          public Optional<byte[]> get(String key) throws StoreException {
            if (key.startsWith("log/0") && world.time.nanoTime() > 0 && !appended[0]) {
              appended[0] = true;
              try {
                world.append();
              } catch (Exception e) {
                throw new StoreException(StoreException.Reason.OTHER, false, "append", e);
              }
            }
            return super.get(key);
          }
        };
    try (HeldReader reader = open(appending, AsOf.at(105))) {
      assertThat(GcWorld.sum(drain(reader.snapshot(60_000)))).isEqualTo(world.modelAt(105));
    }
  }

  @Test
  @DisplayName(
      "P-RD-02, P-RD-07: a time that was given up is a named error with the oldest there is")
  void aTimeThatWasGivenUpIsNamed() throws Exception {
    world.work(10);
    long since = world.shard.state().since().time();
    assertThatThrownBy(() -> open(AsOf.at(since - 1)))
        .isInstanceOf(ReadRefusedException.class)
        .hasMessageContaining("since is " + since)
        .hasMessageContaining("begin anew");
    assertThat(world.keys("hold/")).as("no hold is left").isEmpty();
    List<Update> before;
    try (HeldReader reader = open(AsOf.EARLIEST)) {
      before = drain(reader.snapshot(0));
    }
    while (world.shard.compactOnce()) {
      world.time.pass(Duration.ofSeconds(1));
    }
    try (HeldReader reader = open(AsOf.EARLIEST)) {
      assertThat(drain(reader.snapshot(0))).isEqualTo(before);
      assertThat(before).allMatch(update -> update.time() == since);
    }
  }

  @Test
  @DisplayName("P-RD-03: snapshot and then follow, at random moments, adds up")
  void snapshotAndFollowAddUp() throws Exception {
    Random random = new Random(11);
    for (int round = 0; round < 40; round++) {
      world.work(1 + random.nextInt(3));
      long since = Math.max(0, world.shard.state().since().time());
      long upper = world.shard.state().upper().time();
      long asOf = since + random.nextInt((int) (upper - since));
      try (HeldReader reader = open(AsOf.at(asOf))) {
        List<Update> all = new ArrayList<>(drain(reader.snapshot(0)));
        assertThat(GcWorld.sum(all)).isEqualTo(world.modelAt(asOf));
        Listen listen = reader.listen();
        for (int i = 0; i < 6; i++) {
          Optional<Listen.Stretch> next = listen.next();
          if (next.isPresent()) {
            List<Update> more = drain(next.get().updates());
            assertThat(more)
                .allMatch(
                    update ->
                        update.time() >= next.get().from().time()
                            && update.time() < next.get().upto().time());
            all.addAll(more);
          }
          assertThat(GcWorld.sum(all)).isEqualTo(world.modelAt(listen.progress().time() - 1));
          if (random.nextInt(3) == 0) {
            world.work(1);
          }
        }
      }
      if (random.nextInt(4) == 0) {
        world.time.pass(Duration.ofHours(2));
        collect();
      }
    }
    assertThat(world.keys("hold/")).isEmpty();
  }

  @Test
  @DisplayName("P-RD-04: a reader that takes hours and renews gets every row")
  void aSlowReaderThatRenewsGetsEveryRow() throws Exception {
    world.work(20);
    try (HeldReader reader = open(AsOf.LATEST)) {
      long asOf = reader.asOfMillis();
      List<Update> rows = new ArrayList<>();
      try (UpdateCursor cursor = reader.snapshot(0)) {
        while (cursor.next()) {
          rows.add(new Update(rows.size(), null, cursor.time(), cursor.diff()));
          world.work(2);
          world.time.pass(Duration.ofMinutes(6));
          reader.tick();
          collect();
        }
      }
      assertThat(rows).hasSize(world.modelAt(asOf).size());
      assertThat(reader.hold().lost()).isFalse();
      // A later state is readable at the held time too, though since has passed it by.
      assertThat(GcWorld.sum(drain(reader.snapshot(0)))).isEqualTo(world.modelAt(asOf));
    }
  }

  @Test
  @DisplayName("P-RD-04: a reader that sleeps for ten leases is right or ends by name")
  void aReaderThatSleepsEndsByName() throws Exception {
    world.work(20);
    HeldReader reader = open(AsOf.LATEST);
    long asOf = reader.asOfMillis();
    List<Update> rows = new ArrayList<>();
    UpdateCursor cursor = reader.snapshot(0);
    assertThat(cursor.next()).isTrue();
    world.time.pass(Duration.ofMinutes(150));
    world.work(60);
    world.time.pass(Duration.ofHours(2));
    collect();
    assertThatThrownBy(
            () -> {
              while (cursor.next()) {
                rows.add(new Update(rows.size(), null, cursor.time(), cursor.diff()));
              }
              assertThat(rows).hasSize(world.modelAt(asOf).size() - 1);
              throw new HoldLostException("was lost all the same, and every row was there");
            })
        .isInstanceOf(HoldLostException.class)
        .hasMessageContaining("was lost");
    assertThat(reader.hold().lost()).isTrue();
    world.shard.commit(new Command.Retire("end"));
    collect();
    world.time.pass(Duration.ofHours(2));
    collect();
    assertThatThrownBy(() -> drain(reader.snapshot(0)))
        .isInstanceOf(HoldLostException.class)
        .hasMessageContaining("since is")
        .hasMessageContaining("held since");
  }

  @Test
  void aPartThatIsGoneIsReadFromANewerStateOnceMore() throws Exception {
    world.work(8);
    HeldReader reader = open(AsOf.LATEST);
    long asOf = reader.asOfMillis();
    UpdateCursor cursor = reader.snapshot(0);
    assertThat(cursor.next()).isTrue();
    // The hold is dropped by somebody, everything is merged no further than it, and collected.
    world.holds().drop(reader.hold().id());
    while (world.shard.compactOnce()) {
      world.time.pass(Duration.ofSeconds(1));
    }
    world.time.pass(Duration.ofHours(2));
    collect();
    long rows = 1;
    while (cursor.next()) {
      rows++;
    }
    assertThat(rows).isEqualTo(world.modelAt(asOf).size());
    assertThat(reader.hold().maybeRenew()).as("it was dropped").isFalse();
  }

  @Test
  @DisplayName("P-RD-05: with nothing to follow there is progress all the same, from the first on")
  void progressWithoutRows() throws Exception {
    HeldReader empty = open(AsOf.at(-1));
    Listen listen = empty.listen();
    assertThat(listen.progress()).isEqualTo(Frontier.of(0));
    assertThat(listen.next()).isEmpty();
    for (int i = 1; i <= 5; i++) {
      world.shard.append(world.shard.batch(10L * i, List.of(), List.of(), false));
      Listen.Stretch stretch = listen.next().orElseThrow();
      assertThat(drain(stretch.updates())).isEmpty();
      assertThat(listen.progress()).isEqualTo(Frontier.of(10L * i));
    }
    world.shard.commit(new Command.Seal("end"));
    assertThat(drain(listen.next().orElseThrow().updates())).isEmpty();
    assertThat(listen.ended()).isTrue();
    assertThat(listen.next()).isEmpty();
    empty.close();
  }

  @Test
  @DisplayName("persist 65: a listener that lost its hold and fell behind stops loudly")
  void aListenerThatFellBehindStops() throws Exception {
    world.work(10);
    HeldReader reader = open(AsOf.LATEST);
    Listen listen = reader.listen();
    world.time.pass(Duration.ofMinutes(20));
    world.work(20);
    while (world.shard.compactOnce()) {
      world.time.pass(Duration.ofSeconds(1));
    }
    assertThatThrownBy(
            () -> {
              for (Optional<Listen.Stretch> next = listen.next();
                  next.isPresent();
                  next = listen.next()) {
                drain(next.get().updates());
              }
            })
        .isInstanceOf(HoldLostException.class)
        .hasMessageContaining("begin anew with a snapshot");
  }

  @Test
  @DisplayName("P-RD-07: under a hold that moves on, a follower of a day is never too late")
  void aFollowerUnderAHoldIsNeverTooLate() throws Exception {
    world.work(5);
    try (HeldReader reader = open(AsOf.LATEST)) {
      List<Update> all = new ArrayList<>(drain(reader.snapshot(0)));
      Listen listen = reader.listen();
      for (int i = 0; i < 30; i++) {
        world.work(3);
        world.time.pass(Duration.ofMinutes(3));
        reader.tick();
        collect();
        if (i % 5 == 4) {
          for (Optional<Listen.Stretch> next = listen.next();
              next.isPresent();
              next = listen.next()) {
            all.addAll(drain(next.get().updates()));
          }
          assertThat(GcWorld.sum(all)).isEqualTo(world.modelAt(listen.progress().time() - 1));
        }
      }
      assertThat(reader.hold().hold().since().time()).isGreaterThan(reader.asOfMillis());
    }
  }

  @Test
  void aHoldWhoseRenewalFailsIsTriedAgainUntilItEnds() throws Exception {
    world.work(3);
    boolean[] cut = {false};
    ObjectStore cutOff =
        new ForwardingStore(world.bucket) {
          @Override
          public void put(String key, Body body) throws StoreException {
            if (cut[0]) {
              throw new StoreException(StoreException.Reason.UNAVAILABLE, true, "cut off", null);
            }
            super.put(key, body);
          }
        };
    HeldReader reader = open(cutOff, AsOf.LATEST);
    cut[0] = true;
    world.time.pass(Duration.ofMinutes(6));
    assertThat(reader.hold().maybeRenew()).isTrue();
    world.time.pass(Duration.ofMinutes(6));
    cut[0] = false;
    assertThat(reader.hold().maybeRenew()).isTrue();
    world.time.pass(Duration.ofMinutes(14));
    assertThat(reader.hold().lost()).as("renewed 14 minutes ago").isFalse();
    cut[0] = true;
    assertThat(reader.hold().maybeRenew()).isTrue();
    world.time.pass(Duration.ofMinutes(2));
    cut[0] = false;
    assertThat(reader.hold().maybeRenew()).isFalse();
    assertThat(reader.hold().lost()).isTrue();
  }

  @Test
  void leasesThatMakeNoSenseAreRefused() throws Exception {
    world.work(3);
    for (long millis : new long[] {1, 59_999, Duration.ofDays(2).toMillis()}) {
      ShardLog log = world.log(world.bucket);
      assertThatThrownBy(
              () ->
                  HeldReader.open(
                      log, new Holds(log), new Terms("test", "here", millis), AsOf.LATEST))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("hold.expiry");
    }
  }
}
