package dev.tidemark.gc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.LogIntervals;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.read.TestShard;
import dev.tidemark.read.TestShard.Update;
import dev.tidemark.read.Verifier;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A shard with real parts in virtual time, short blocks, and a model of its rows. */
public final class GcWorld {
  /** A rollup every 4 versions, blocks of 8. */
  public static final LogIntervals SHORT = new LogIntervals(4, 8);

  /** In whose name tests collect. */
  public static final Author BY =
      new Author(new WriterAttempt("gc", "2026-11-30T00:00:00Z", "1", "here"), "gc");

  private static final SpineSpec SPEC = new SpineSpec(2, 200, 4, 200, 2.0, true);

  /** The one time of a test: the store's clock, and hosts' clocks, which are wrong. */
  public static final class VirtualTime implements Pacing {
    private final Random random = new Random(7);
    private long nanos;
    private Duration wrongBy = Duration.ZERO;

    /** The store's time. */
    public Instant storeNow() {
      return Instant.parse("2026-11-30T00:00:00Z").plusNanos(nanos);
    }

    /** Lets time pass. */
    public void pass(Duration duration) {
      nanos += duration.toNanos();
    }

    /** Makes the local wall clock wrong. */
    public void wrongBy(Duration by) {
      wrongBy = by;
    }

    @Override
    public Instant now() {
      return storeNow().plus(wrongBy);
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void pause(long millis) {
      pass(Duration.ofMillis(millis));
    }

    @Override
    public long random() {
      return random.nextLong();
    }

    @Override
    public int sideBySide() {
      return 1;
    }
  }

  public final VirtualTime time = new VirtualTime();
  public final MemoryStore bucket = new MemoryStore("gc", time::storeNow);
  public final TestShard shard;
  private final List<Update> model = new ArrayList<>();
  private long upper;

  /** An empty shard. */
  public GcWorld() throws Exception {
    shard = new TestShard(log(bucket), SPEC, 1 << 20);
  }

  /** A new handle on the shard. */
  public ShardLog log(ObjectStore store) {
    return new ShardLog(store, time, SHORT);
  }

  /** A new collector with the defaults. */
  public Collector collector(ObjectStore store) {
    return new Collector(log(store), BY, GcSettings.DEFAULT);
  }

  /** Holds as an actor of its own sees them. */
  public Holds holds() {
    return new Holds(bucket, time);
  }

  /** One append of an insertion and, but for the first, a deletion of the one two before. */
  public void append() throws Exception {
    long id = upper / 10;
    List<Update> rows = new ArrayList<>();
    rows.add(new Update(id, "v" + id, upper + 5, 1));
    if (id >= 2 && id % 3 != 0) {
      rows.add(new Update(id - 2, "v" + (id - 2), upper + 6, -1));
    }
    upper += 10;
    shard.append(upper, rows.toArray(Update[]::new));
    model.addAll(rows);
  }

  /** Appends and merges, a minute each; since follows 30 behind. */
  public void work(int appends) throws Exception {
    for (int i = 0; i < appends; i++) {
      append();
      if (upper - 30 > Math.max(0, shard.state().since().time())) {
        Frontier wanted = Frontier.of(upper - 30).min(holds().leastSince());
        if (wanted.isAfter(shard.state().since())) {
          shard.commit(new Command.DowngradeSince(wanted));
        }
      }
      compact();
      time.pass(Duration.ofMinutes(1));
    }
  }

  /** Merges once if the spine wants it and no hold would be passed. */
  public void compact() throws Exception {
    if (!holds().leastSince().isBefore(shard.state().since())) {
      shard.compactOnce();
    }
  }

  /** The rows that are there at a time. */
  public Map<Long, Long> modelAt(long asOf) {
    Map<Long, Long> rows = new HashMap<>();
    for (Update update : model) {
      if (update.time() <= asOf) {
        rows.merge(update.id(), update.diff(), Long::sum);
      }
    }
    rows.values().removeIf(diff -> diff == 0);
    return rows;
  }

  /** Updates added up. */
  public static Map<Long, Long> sum(List<Update> updates) {
    Map<Long, Long> rows = new HashMap<>();
    updates.forEach(update -> rows.merge(update.id(), update.diff(), Long::sum));
    rows.values().removeIf(diff -> diff == 0);
    return rows;
  }

  /** A reader that starts cold sees what the model says, and all of it is sound. */
  public void checkContents() throws Exception {
    checkRows();
    assertThat(new Verifier(log(bucket)).verify(true).findings()).isEmpty();
  }

  /** A reader that starts cold sees what the model says. */
  public void checkRows() throws Exception {
    ShardLog cold = log(bucket);
    ShardState state = cold.refresh();
    assertThat(state.upper()).isEqualTo(Frontier.of(upper));
    long first = Math.max(0, state.since().time());
    for (long asOf = first; asOf < upper; asOf += 7) {
      List<Update> rows = shard.drain(new ShardReader(cold).snapshot(state, asOf));
      assertThat(sum(rows)).as("contents at " + asOf).isEqualTo(modelAt(asOf));
    }
  }

  /** The keys that begin so. */
  public List<String> keys(String prefix) {
    return bucket.list(prefix, "", Integer.MAX_VALUE).stream().map(ObjectInfo::key).toList();
  }

  /** The parts that a state names. */
  public static List<String> named(ShardState state) {
    Map<String, Long> parts = new HashMap<>();
    for (Batch batch : state.batches()) {
      Departures.addParts(parts, batch);
    }
    return parts.keySet().stream().sorted().toList();
  }

  /** Nothing lies about: parts are those that the head names, the log begins in an open block. */
  public void checkNoGarbage() throws Exception {
    ShardState state = log(bucket).refresh();
    assertThat(keys("part/")).isEqualTo(named(state));
    long open = keys("log/closed/").size();
    for (String key : keys("log/0")) {
      long seqno = Long.parseLong(key.substring(4, 24));
      assertThat(seqno).as(key).isGreaterThanOrEqualTo(open * SHORT.block());
    }
    // Two, and one more where collecting itself committed a version.
    assertThat(keys("rollup/").size()).isLessThanOrEqualTo(3);
    assertThat(keys("hold/")).isEmpty();
  }
}
