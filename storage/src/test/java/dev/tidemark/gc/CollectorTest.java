package dev.tidemark.gc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tidemark.hold.OwnHold;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.Hold;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectorTest {
  private static final long LEASE = Duration.ofMinutes(15).toMillis();

  private GcWorld world;

  @BeforeEach
  void make() throws Exception {
    world = new GcWorld();
  }

  private Hold hold() {
    ShardState state = world.shard.state();
    return new Hold(state.seqno(), state.since(), LEASE, "test", "here");
  }

  private GcReport collect() throws Exception {
    return world.collector(world.bucket).collect(true);
  }

  // ---- The four steps

  @Test
  @DisplayName(
      "persist 59: what left goes when its time has come; the same round again does nothing")
  void whatLeftGoesWhenItsTimeHasComeAndNothingElseEver() throws Exception {
    world.work(40);
    int before = world.keys("part/").size();
    GcReport young = world.collector(world.bucket).collect(true);
    assertThat(young.partsKept()).isPositive();
    world.time.pass(Duration.ofHours(2));
    GcReport report = collect();
    assertThat(report.partsDeleted()).isEqualTo(before - young.partsDeleted() - live());
    assertThat(report.blocksClosed() + young.blocksClosed()).isPositive();
    assertThat(report.entriesDeleted()).isPositive();
    world.checkNoGarbage();
    world.checkContents();
    assertThat(collect().didSomething()).isFalse();
  }

  private int live() throws Exception {
    return GcWorld.named(world.log(world.bucket).refresh()).size();
  }

  @Test
  @DisplayName("persist 58: without a second rollup no log is deleted, parts are")
  void withoutASecondRollupNoLogIsDeleted() throws Exception {
    world.work(40);
    for (String key : world.keys("rollup/").subList(1, world.keys("rollup/").size())) {
      world.bucket.delete(List.of(key));
    }
    world.time.pass(Duration.ofHours(2));
    GcReport report = collect();
    assertThat(report.partsDeleted()).isPositive();
    assertThat(report.blocksClosed() + report.rollupsDeleted()).isZero();
    world.checkContents();
  }

  @Test
  @DisplayName("persist 58: a damaged rollup doesn't count")
  void aDamagedRollupDoesNotCount() throws Exception {
    world.work(40);
    world.time.pass(Duration.ofHours(2));
    List<String> rollups = world.keys("rollup/");
    for (String key : rollups.subList(rollups.size() - 2, rollups.size())) {
      world.bucket.put(key, Body.of(new byte[] {'{'}));
    }
    collect();
    world.checkRows();
  }

  @Test
  @DisplayName("persist 62: a long life leaves a bounded log")
  void manyRoundsInALongLifeKeepItBounded() throws Exception {
    Collector collector = world.collector(world.bucket);
    for (int i = 0; i < 12; i++) {
      world.work(10);
      world.time.pass(Duration.ofMinutes(61));
      while (collector.collect(true).more()) {
        assertThat(world.keys("part/")).isNotEmpty();
      }
      assertThat(world.keys("log/0")).hasSizeLessThan(60);
    }
    world.checkNoGarbage();
    world.checkContents();
  }

  // ---- Interrupted anywhere, side by side

  /** Stops at the n-th request: before it or after it was carried out. */
  private static final class StoppingStore extends ForwardingStore {
    private final int stopAt;
    private final boolean after;
    private int requests;

    StoppingStore(ObjectStore store, int stopAt, boolean after) {
      super(store);
      this.stopAt = stopAt;
      this.after = after;
    }

    private boolean stopsHere() throws StoreException {
      requests++;
      if (requests == stopAt && !after) {
        throw stopped();
      }
      return requests == stopAt;
    }

    private static StoreException stopped() {
      return new StoreException(StoreException.Reason.OTHER, true, "stopped", null);
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      boolean stops = stopsHere();
      Created created = super.putIfAbsent(key, body);
      if (stops) {
        throw stopped();
      }
      return created;
    }

    @Override
    public void put(String key, Body body) throws StoreException {
      boolean stops = stopsHere();
      super.put(key, body);
      if (stops) {
        throw stopped();
      }
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      stopsHere();
      return super.get(key);
    }

    @Override
    public void delete(List<String> keys) throws StoreException {
      boolean stops = stopsHere();
      // A bulk delete that is cut off has deleted some, in any order.
      super.delete(stops ? keys.subList(keys.size() / 2, keys.size()) : keys);
      if (stops) {
        throw stopped();
      }
    }
  }

  private void prepareGarbage() throws Exception {
    world.work(30);
    for (int i = 0; i < 3; i++) {
      world.bucket.put("part/2026-11-10/orphan" + i + ".parquet", Body.of(new byte[10]));
    }
    OwnHold dead = world.holds().create(hold());
    assertThat(dead.lost()).isFalse();
    world.time.pass(Duration.ofHours(2));
  }

  @Test
  @DisplayName("persist 60: interrupted at any request, another collector finishes")
  void interruptedAtAnyRequestAnotherFinishes() throws Exception {
    boolean[] ways = {false, true};
    for (boolean after : ways) {
      boolean stopped = true;
      for (int n = 1; stopped; n += n < 8 ? 1 : 5) {
        make();
        prepareGarbage();
        stopped = false;
        try {
          world.collector(new StoppingStore(world.bucket, n, after)).collect(true);
        } catch (StoreException e) {
          stopped = true;
        }
        world.checkContents();
        world.time.pass(Duration.ofDays(3));
        collect();
        world.checkContents();
        world.checkNoGarbage();
      }
    }
  }

  /** Runs something else right before the n-th request. */
  private static final class MeetingStore extends ForwardingStore {
    private final int meetAt;
    private final AutoCloseable other;
    private int requests;

    MeetingStore(ObjectStore store, int meetAt, AutoCloseable other) {
      super(store);
      this.meetAt = meetAt;
      this.other = other;
    }

    private void maybeMeet() throws StoreException {
      if (++requests == meetAt) {
        try {
          other.close();
        } catch (Exception e) {
          throw new StoreException(StoreException.Reason.OTHER, false, "the other failed", e);
        }
      }
    }

    boolean met() {
      return requests >= meetAt;
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      maybeMeet();
      return super.putIfAbsent(key, body);
    }

    @Override
    public void put(String key, Body body) throws StoreException {
      maybeMeet();
      super.put(key, body);
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      maybeMeet();
      return super.get(key);
    }

    @Override
    public void delete(List<String> keys) throws StoreException {
      maybeMeet();
      super.delete(keys);
    }
  }

  @Test
  @DisplayName("persist 61: two collectors side by side, one overtaking the other at any request")
  void twoCollectorsSideBySide() throws Exception {
    boolean met = true;
    for (int n = 1; met; n += n < 8 ? 1 : 5) {
      make();
      prepareGarbage();
      Collector first = world.collector(world.bucket);
      MeetingStore store =
          new MeetingStore(
              world.bucket,
              n,
              () -> {
                first.collect(true);
                world.work(12); // time goes on, and the log with it
                world.time.pass(Duration.ofHours(2));
                first.collect(true);
              });
      Collector second = world.collector(store);
      second.collect(true);
      met = store.met();
      world.checkContents();
      world.time.pass(Duration.ofDays(3));
      second.collect(true);
      collect();
      world.checkContents();
      world.checkNoGarbage();
    }
  }

  // ---- Cases

  @Test
  @DisplayName("P-GC-01: an upload that takes longer than the grace period is refused by name")
  void aSweptUploadIsRefusedByName() throws Exception {
    world.work(5);
    Batch late =
        world.shard.batch(
            1000,
            List.of(world.shard.storedRun(List.of(new Update(1, "late", 999, 1)))),
            List.of(),
            false);
    world.time.pass(Duration.ofDays(7));
    assertThat(collect().orphansDeleted()).as("younger than gc.orphan-age").isZero();
    world.time.pass(Duration.ofDays(2));
    GcReport report = collect();
    assertThat(report.orphansDeleted()).isEqualTo(1);
    assertThat(report.swept()).isEqualTo("2026-12-01");
    Command append = new Command.Append(attempt("late", "2026-11-30T00:00:00Z"), List.of(late));
    CommitResult result = world.log(world.bucket).commit(append, GcWorld.BY);
    assertThat(((CommitResult.Refused) result).refusal())
        .isInstanceOfSatisfying(
            Decision.Refusal.Swept.class,
            swept -> assertThat(swept.message()).contains(swept.part(), "swept", "orphan-age"));
    world.checkContents();
    world.checkNoGarbage();
  }

  @Test
  void withoutLeaveNothingIsSwept() throws Exception {
    world.work(3);
    world.bucket.put("part/2026-11-10/orphan.parquet", Body.of(new byte[10]));
    world.time.pass(Duration.ofDays(9));
    GcReport report = world.collector(world.bucket).collect(false);
    assertThat(report.orphansDeleted()).isZero();
    assertThat(world.log(world.bucket).refresh().swept()).isNull();
  }

  @Test
  void withoutACandidateNothingIsCommitted() throws Exception {
    world.work(3);
    world.time.pass(Duration.ofDays(30));
    collect();
    assertThat(world.log(world.bucket).refresh().swept()).isNull();
  }

  @Test
  @DisplayName("P-GC-03: what a killed writer left is found")
  void crashLeftoversAreFound() throws Exception {
    for (int kill = 0; kill < 20; kill++) {
      for (int i = 0; i < 50; i++) {
        String key = "part/2026-11-30/kill" + kill + "-" + i + ".parquet";
        world.bucket.put(key, Body.of(new byte[10]));
      }
      world.work(1);
    }
    world.time.pass(Duration.ofDays(9));
    GcReport report = collect();
    assertThat(report.orphansDeleted()).isEqualTo(1000);
    world.checkNoGarbage();
    world.checkContents();
  }

  @Test
  @DisplayName("P-GC-04, persist 62: dead readers' holds expire, a slow live one's doesn't")
  void deadReadersHoldExpires() throws Exception {
    world.work(10);
    for (int i = 0; i < 10; i++) {
      world.holds().create(hold());
    }
    OwnHold slow = world.holds().create(hold());
    Collector collector = world.collector(world.bucket);
    for (int i = 0; i < 20; i++) {
      world.work(6);
      assertThat(slow.maybeRenew()).isTrue();
      GcReport report = collector.collect(true);
      if (i > 12) {
        assertThat(report.held()).containsOnlyKeys(slow.id());
      }
    }
    assertThat(world.holds().list()).hasSize(1);
    Usage usage = Usage.of(world.log(world.bucket));
    assertThat(usage.held().objects()).isPositive();
    assertThat(usage.holders().get(0).hold().hold().host()).isEqualTo("here");
    assertThat(usage.holders().get(0).keeps()).isEqualTo(usage.held());
    slow.drop();
    world.time.pass(Duration.ofHours(2));
    collector.collect(true);
    world.checkNoGarbage();
    world.checkContents();
  }

  @ParameterizedTest
  @DisplayName("P-GC-06: nonsensical settings are refused with the allowed minimum")
  @CsvSource({
    "PT0S, P7D, gc.keep",
    "PT-5M, P7D, gc.keep",
    "PT0.001S, P7D, gc.keep",
    "PT9M59S, P7D, gc.keep",
    "P400000D, P7D, gc.keep",
    "PT1H, PT23H, gc.orphan-age",
    "PT1H, PT-5M, gc.orphan-age"
  })
  void nonsenseIsRefused(Duration keep, Duration orphanAge, String named) {
    assertThatThrownBy(() -> GcSettings.of(keep, orphanAge))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named)
        .hasMessageContaining("must be from");
  }

  @ParameterizedTest
  @DisplayName("P-S3-07, persist 72: a wrong local clock changes nothing")
  @CsvSource({"PT-40M", "PT40M", "P400D", "P-400D"})
  void aWrongLocalClockChangesNothing(Duration wrongBy) throws Exception {
    world.work(20);
    world.time.pass(Duration.ofMinutes(30));
    world.bucket.put("part/2026-11-29/orphan.parquet", Body.of(new byte[10]));
    OwnHold hold = world.holds().create(hold());
    GcReport right = world.collector(world.bucket).collect(true);
    world.time.wrongBy(wrongBy);
    GcReport wrong = collect();
    assertThat(wrong.partsKept()).isEqualTo(right.partsKept());
    assertThat(wrong.orphansDeleted()).isZero();
    assertThat(hold.maybeRenew()).isTrue();
    world.checkContents();
  }

  @Test
  @DisplayName("P-OP-04: a missing right to delete is loud, not fatal")
  void aMissingRightToDeleteIsLoud() throws Exception {
    world.work(30);
    world.time.pass(Duration.ofHours(2));
    ObjectStore denying =
        new ForwardingStore(world.bucket) {
          @Override
          public void delete(List<String> keys) throws StoreException {
            throw new StoreException(
                StoreException.Reason.DENIED, false, "DELETE is not allowed on bucket b", null);
          }
        };
    int before = world.keys("part/").size();
    GcReport report = world.collector(denying).collect(true);
    assertThat(report.denied()).contains("DELETE is not allowed");
    assertThat(world.keys("part/")).hasSize(before);
    assertThat(world.keys("log/closed/")).isEmpty();
    world.time.pass(Duration.ofDays(3));
    collect();
    world.checkNoGarbage();
    world.checkContents();
  }

  @Test
  @DisplayName("P-OP-04: a missing right to list uploads leaves those alone, and says so")
  void aMissingRightToListUploadsLeavesThoseAlone() throws Exception {
    world.work(30);
    world.bucket.put("part/2026-11-20/orphan.parquet", Body.of(new byte[10]));
    world.time.pass(Duration.ofDays(30));
    ObjectStore denying =
        new ForwardingStore(world.bucket) {
          @Override
          public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
            throw new StoreException(
                StoreException.Reason.DENIED, false, "needs s3:ListBucketMultipartUploads", null);
          }
        };
    GcReport report = world.collector(denying).collect(true);
    assertThat(report.uploadsDenied()).contains("s3:ListBucketMultipartUploads");
    assertThat(report.denied()).isNull();
    assertThat(report.partsDeleted()).isPositive();
    assertThat(report.orphansDeleted()).isOne();
    world.checkContents();
  }

  private static WriterAttempt attempt(String writer, String started) {
    return new WriterAttempt(writer, started, started, "host-of-" + writer);
  }

  @Test
  @DisplayName(
      "P-CC-02: a frozen appender wakes up after clean-up: no success, its stray is collected")
  void aFrozenAppenderWakesUpAfterCleanUp() throws Exception {
    world.work(3);
    long[] frozenAt = {0};
    ForwardingStore freezing =
        new ForwardingStore(world.bucket) {
          @Override
          public Created putIfAbsent(String key, byte[] body) throws StoreException {
            if (key.startsWith("log/") && frozenAt[0] == 0) {
              frozenAt[0] = Long.parseLong(key.substring(4, 24));
              try {
                world.work(40);
                world.time.pass(Duration.ofHours(2));
                collect();
              } catch (Exception e) {
                throw new StoreException(StoreException.Reason.OTHER, false, "others", e);
              }
            }
            return super.putIfAbsent(key, body);
          }
        };
    ShardLog frozen = world.log(freezing);
    frozen.refresh();
    Batch batch =
        world.shard.batch(
            45,
            List.of(world.shard.storedRun(List.of(new Update(77, "frozen", 40, 1)))),
            List.of(),
            false);
    CommitResult result =
        frozen.commit(
            new Command.Append(attempt("frozen", "2026-11-30T00:00:00Z"), List.of(batch)),
            GcWorld.BY);
    assertThat(result).isInstanceOf(CommitResult.Refused.class);
    assertThat(((CommitResult.Refused) result).refusal())
        .isInstanceOf(Decision.Refusal.UpperMismatch.class);
    assertThat(world.keys("log/0").get(0)).as("the stray").contains("" + frozenAt[0]);
    world.checkContents();
    world.time.pass(Duration.ofDays(9));
    collect();
    world.checkNoGarbage();
    world.checkContents();
  }

  @Test
  @DisplayName("P-CC-03: what a refused append uploaded is collected, by nobody else than GC")
  void theLosersPartsAreCollected() throws Exception {
    world.work(2);
    Batch lost =
        world.shard.batch(
            1000,
            List.of(world.shard.storedRun(List.of(new Update(1, "lost", 999, 1)))),
            List.of(),
            false);
    world.append();
    Command append = new Command.Append(attempt("other", "2026-11-30T00:00:00Z"), List.of(lost));
    assertThat(world.log(world.bucket).commit(append, GcWorld.BY))
        .isInstanceOf(CommitResult.Refused.class);
    int parts = world.keys("part/").size();
    collect();
    assertThat(world.keys("part/")).hasSize(parts);
    world.time.pass(Duration.ofDays(9));
    collect();
    world.checkNoGarbage();
    world.checkContents();
  }

  @Test
  void aDryRunWritesAndDeletesNothing() throws Exception {
    prepareGarbage();
    List<String> before = world.keys("");
    Collector collector = world.collector(world.bucket);
    GcReport dry = collector.dryRun();
    assertThat(world.keys("")).isEqualTo(before);
    assertThat(dry.partsDeleted()).isPositive();
    assertThat(dry.orphansDeleted()).isEqualTo(3);
    GcReport real = collector.collect(true);
    assertThat(real.partsDeleted()).isEqualTo(dry.partsDeleted());
    assertThat(real.blocksClosed()).isEqualTo(dry.blocksClosed());
    assertThat(real.orphansDeleted()).isEqualTo(dry.orphansDeleted());
  }

  // ---- The end

  @Test
  @DisplayName("persist 67, 68: a retired shard is emptied in small steps once nobody holds it")
  void aRetiredShardIsEmptiedInSmallSteps() throws Exception {
    world.work(20);
    OwnHold reader = world.holds().create(hold());
    world.shard.commit(new Command.Retire("end"));
    Collector collector = world.collector(world.bucket);
    assertThat(collector.collect(true).batchesDiscarded()).as("held").isZero();
    reader.drop();
    world.time.pass(Duration.ofMinutes(1));
    int rounds = 0;
    while (collector.collect(true).more()) {
      assertThat(rounds++).isLessThan(100);
    }
    world.time.pass(Duration.ofHours(2));
    collector.collect(true);
    assertThat(world.keys("part/")).isEmpty();
    long versions = world.log(world.bucket).refresh().seqno().value();
    collector.collect(true);
    world.shard.log().commit(new Command.Retire("again"), GcWorld.BY);
    assertThat(world.log(world.bucket).refresh().seqno().value())
        .as("a tombstone takes no more versions")
        .isEqualTo(versions);
  }

  @Test
  void sinceFollowsBehindTheUpperAndPassesNoHold() throws Exception {
    world.work(2);
    for (int i = 0; i < 30; i++) {
      world.append();
    }
    Maintenance maintenance =
        new Maintenance(
            world.log(world.bucket), GcWorld.BY, Duration.ofMillis(50), GcSettings.DEFAULT);
    Hold at100 = new Hold(world.shard.state().seqno(), Frontier.of(100), LEASE, "test", "here");
    OwnHold reader = world.holds().create(at100);
    maintenance.maintain(true);
    assertThat(world.log(world.bucket).refresh().since()).isEqualTo(Frontier.of(100));
    reader.drop();
    maintenance.maintain(true);
    assertThat(world.log(world.bucket).refresh().since())
        .as("at most once a minute")
        .isEqualTo(Frontier.of(100));
    world.time.pass(Duration.ofMinutes(2));
    maintenance.maintain(true);
    assertThat(world.log(world.bucket).refresh().since()).isEqualTo(Frontier.of(270));
    world.time.pass(Duration.ofMinutes(2));
    long seqno = world.log(world.bucket).refresh().seqno().value();
    maintenance.maintain(true);
    assertThat(world.log(world.bucket).refresh().seqno().value()).isEqualTo(seqno);
  }
}
