package dev.tidemark.flink;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.gc.Collector;
import dev.tidemark.gc.GcSettings;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.read.Verifier;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.ObjectInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares shards with {@link PacedRows}: at many times between since and upper, at once or when
 * all is over.
 *
 * <ol>
 *   <li>What is never late is there at its own time, once, and nothing else is.
 *   <li>What is late is there at most once at any time, never less than not at all, not before its
 *       own time; and in the end as it should be.
 *   <li>No batch holds a row outside its bounds; all of what the log names can be read.
 *   <li>What nobody names is gone once the collector has been.
 * </ol>
 */
final class PacedCheck {
  private static final int TIMES = 5;
  private static final long GARBAGE_NANOS = 30_000_000_000L;
  private static final RowCodec ROWS = new RowCodec(PacedRows.SCHEMA);

  private PacedCheck() {}

  /** Compares what can be read now, while the job may run. */
  static void upTo(KilledJob job, long end) throws Exception {
    for (int shard = 0; shard < job.shards().size(); shard++) {
      ShardLog log = job.logs().get(shard);
      ShardState state = log.refresh();
      for (long asOf : times(state)) {
        compare(job.rows(), shard, read(log, asOf), asOf, end);
      }
    }
  }

  /**
   * Compares all there is once the last job is over, and what is left behind. The store is days
   * older then: another job would write parts of days that were swept.
   */
  static void atEnd(KilledJob job, long end) throws Exception {
    whole(job, end);
    job.waitDays(2);
    for (int shard = 0; shard < job.shards().size(); shard++) {
      checkGarbage(shard, job.logs().get(shard));
    }
  }

  /** Compares all there is once a job is over. */
  static void whole(KilledJob job, long end) throws Exception {
    upTo(job, end);
    for (int shard = 0; shard < job.shards().size(); shard++) {
      ShardLog log = job.logs().get(shard);
      ShardState state = log.refresh();
      assertThat(read(log, state.upper().time() - 1))
          .as("shard %s, all of it", shard)
          .isEqualTo(once(job.rows().whole(shard, end)));
      checkBounds(log, state);
      Verifier.Report report = new Verifier(log).verify(true);
      assertThat(report.findings()).as("shard %s", shard).isEmpty();
    }
  }

  private static Set<Long> times(ShardState state) {
    Set<Long> times = new TreeSet<>();
    if (!state.exists() || state.upper().isMinimum()) {
      return times;
    }
    long last = state.upper().time() - 1;
    long first =
        Math.min(
            last,
            state.since().isMinimum()
                ? PacedRows.BEGIN
                : Math.max(PacedRows.BEGIN, state.since().time()));
    for (int i = 0; i <= TIMES; i++) {
      times.add(first + (last - first) * i / TIMES);
    }
    // and where one batch ends and the next one begins
    for (Batch batch : state.batches()) {
      long lower = batch.bounds().lower().time();
      if (lower > first && lower <= last && times.size() < 2 * TIMES) {
        times.add(lower - 1);
        times.add(lower);
      }
    }
    return times;
  }

  private record Held(String text, long diff) {}

  private static Map<Long, Held> once(Map<Long, String> rows) {
    Map<Long, Held> held = new HashMap<>();
    rows.forEach((id, text) -> held.put(id, new Held(text, 1)));
    return held;
  }

  /** All rows at a time; one id twice is a failure, whatever the rows are. */
  private static Map<Long, Held> read(ShardLog log, long asOf) throws Exception {
    Map<Long, Held> held = new HashMap<>();
    try (UpdateCursor rows = new ShardReader(log).snapshot(log.refresh(), asOf)) {
      while (rows.next()) {
        Object[] row = ROWS.decode(rows.row(), rows.rowOffset(), rows.rowLength());
        Held before = held.put((Long) row[0], new Held((String) row[1], rows.diff()));
        assertThat(before).as("another row of id %s at %s", row[0], asOf).isNull();
      }
    } catch (dev.tidemark.read.ReadRefusedException sinceHasMoved) {
      assertThat(log.refresh().since().time()).isGreaterThan(asOf);
      return Map.of(-1L, new Held("", 0));
    }
    return held;
  }

  private static void compare(
      PacedRows rows, int shard, Map<Long, Held> held, long asOf, long end) {
    if (held.containsKey(-1L)) {
      return; // is no more readable
    }
    Map<Long, Held> inOrder = new HashMap<>(held);
    inOrder.keySet().removeIf(rows::isLate);
    assertThat(inOrder)
        .as("shard %s at %s", shard, asOf)
        .isEqualTo(once(rows.inOrder(shard, asOf, end)));
    held.forEach(
        (id, row) -> assertThat(row.diff()).as("id %s of shard %s at %s", id, shard, asOf).isOne());
  }

  private static void checkBounds(ShardLog log, ShardState state) throws Exception {
    for (Batch batch : state.batches()) {
      // what a cut batch holds outside its bounds nobody reads
      List<List<Part>> runs = batch.cut() ? List.of() : batch.runs();
      for (List<Part> run : runs) {
        try (UpdateCursor rows =
            new ShardReader(log).parts().readRun(run, state.schema(), state.schema())) {
          while (rows.next()) {
            assertThat(batch.bounds().contains(rows.time()) || !batch.since().isMinimum())
                .as("a row of time %s in %s", rows.time(), batch)
                .isTrue();
          }
        }
      }
    }
  }

  /**
   * I7: what dead attempts left is garbage, and goes: once it is older than what a collector allows
   * for clocks.
   */
  private static void checkGarbage(int shard, ShardLog log) throws Exception {
    GcSettings eager = GcSettings.unsafe(Duration.ZERO, Duration.ZERO);
    Collector collector =
        new Collector(log, TestShards.author("gc", "2026-01-01T00:00:00.000Z"), eager);
    long begun = System.nanoTime();
    Set<String> named;
    Set<String> there;
    do {
      collector.collect(true);
      named = named(log.refresh());
      there = new HashSet<>();
      for (ObjectInfo part : log.store().list("part/", "", Integer.MAX_VALUE)) {
        there.add(part.key());
      }
      log.pacing().pause(20);
    } while (!there.equals(named) && System.nanoTime() - begun < GARBAGE_NANOS);
    assertThat(there).as("parts of shard %s that are there", shard).isEqualTo(named);
  }

  private static Set<String> named(ShardState state) {
    Set<String> named = new HashSet<>();
    for (Fact fact : state.facts()) {
      if (fact instanceof Fact.BatchFact batch) {
        batch.batch().runs().forEach(run -> run.forEach(part -> add(named, part)));
        batch.batch().errors().forEach(part -> add(named, part));
      }
    }
    return named;
  }

  private static void add(Set<String> keys, Part part) {
    if (part.location() instanceof PartLocation.Stored stored) {
      keys.add(stored.key());
    }
  }
}
