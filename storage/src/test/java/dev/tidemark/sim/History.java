package dev.tidemark.sim;

import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One history from beginning to end: a run with faults, then quiet, then the last look. */
final class History {
  private static final long HOUR_MILLIS = 3_600_000L;
  private static final int QUIET_ROUNDS = 4;

  /** A retired shard is emptied in many small steps. */
  private static final int MOST_ROUNDS = 40;

  /**
   * How it ended.
   *
   * @param violation what broke, null when nothing did
   * @param steps waits until then
   * @param counts commits by command, deletions by kind, faults by kind
   * @param events labels of all faults and turns, in order
   * @param lines what happened, if it was told
   */
  record Outcome(
      @Nullable ViolationError violation,
      long steps,
      Map<String, Long> counts,
      List<String> events,
      List<String> lines) {}

  private final World world;

  private History(World world) {
    this.world = world;
  }

  /** Plays a script. */
  static Outcome play(Script script, boolean telling) {
    World world = new World(script, telling);
    ViolationError violation = new History(world).play();
    if (violation != null) {
      world.tell("BROKEN", violation::getMessage);
    }
    Map<String, Long> counts = new TreeMap<>(world.truth().counts());
    counts.putAll(world.counts());
    world.faults().forEach((fault, count) -> counts.put("fault " + fault, count));
    return new Outcome(violation, world.scheduler().steps(), counts, world.events(), world.lines());
  }

  private @Nullable ViolationError play() {
    startActors();
    world.scheduler().run();
    ViolationError violation = world.scheduler().violation();
    if (violation != null) {
      return violation;
    }
    try {
      quiet();
      return null;
    } catch (ViolationError e) {
      return e;
    } catch (IOException | RuntimeException e) {
      return new ViolationError("crash", "in the end: " + e, e);
    }
  }

  private void startActors() {
    Settings settings = world.settings();
    for (int i = 1; i <= settings.writers(); i++) {
      new Writer.Job(world, "w" + i).start(i);
    }
    for (int i = 1; i <= settings.installers(); i++) {
      start("merger" + i, host -> merger(host));
    }
    for (int i = 1; i <= settings.collectors(); i++) {
      start("collector" + i, host -> collector(host, host.chance().happens(0.5)));
    }
    for (int i = 1; i <= settings.readers(); i++) {
      start("reader" + i, host -> new Snapshooter(host));
    }
    for (int i = 1; i <= settings.holders(); i++) {
      start("holder" + i, host -> holder(host));
    }
    if (settings.administered()) {
      start("operator", host -> new Operator(host));
    }
  }

  private static Participant collector(Host host, boolean real) {
    return real ? new RealCollector(host) : new LetterCollector(host);
  }

  private static Participant merger(Host host) {
    boolean real = host.world().settings().parquet() && host.chance().happens(0.5);
    return real ? new RealMerger(host) : new Merger(host);
  }

  private static Participant holder(Host host) {
    boolean real = host.world().settings().parquet() && host.chance().happens(0.7);
    return real ? new RealReader(host) : new Holder(host);
  }

  private interface Casting {
    Participant cast(Host host);
  }

  /** An actor that comes back on another host when it was killed. */
  private void start(String name, Casting casting) {
    world.start(
        name,
        10,
        () -> {
          Host host = new Host(world, name);
          while (true) {
            casting.cast(host).live();
            host.tell(() -> "comes back");
          }
        });
  }

  /** No more faults and appends: what is late lands, holds expire, garbage goes. */
  private void quiet() throws IOException {
    world.heal();
    world.scheduler().advance(4 * HOUR_MILLIS);
    if (!world.truth().head().exists()) {
      return;
    }
    int quiet = 0;
    for (int round = 0; round < MOST_ROUNDS && quiet < QUIET_ROUNDS; round++) {
      ShardState before = world.truth().head();
      world.scheduler().advance(30 * HOUR_MILLIS);
      Host host = new Host(world, "last collector " + round);
      collector(host, round % 2 == 0).turn();
      quiet = world.truth().head().equals(before) ? quiet + 1 : 0;
    }
    world.truth().checkContents();
    world.truth().checkGarbage();
    Host host = new Host(world, "last reader");
    ShardLog log = host.open();
    ShardState state = log.refresh();
    if (!state.equals(world.truth().head())) {
      throw new ViolationError(
          "I2", "a cold start ends at " + state + ", not at " + world.truth().head());
    }
  }
}
