package dev.tidemark.sim;

import dev.tidemark.log.Author;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.store.ObjectStore;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.function.Supplier;

/**
 * The machine that an actor runs on: its clock, which is wrong, its chance, its way to the store.
 * Here it waits, freezes and dies.
 */
final class Host implements Pacing {
  /** Thrown where an actor is killed. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    Killed() {
      super("killed", null, false, false);
    }
  }

  private static final long MINUTE_MILLIS = 60_000L;
  private static final long HOUR_MILLIS = 60 * MINUTE_MILLIS;

  private final World world;
  private final String name;
  private final Chance faults;
  private final Chance waits;
  private final Chance chance;
  private long skewMillis;
  private final ObjectStore store;
  private Runnable whenFrozen = () -> {};
  private final long pace;
  private boolean damaged;
  private int waited;
  private int named;

  Host(World world, String name) {
    this.world = world;
    this.name = name;
    this.faults = world.chance("faults of " + name);
    this.waits = world.chance("waits of " + name);
    this.chance = world.chance(name);
    this.skewMillis = chance.one(0L, 0L, chance.between(-40, 40) * MINUTE_MILLIS);
    this.pace = world.settings().pauseMillis() * chance.one(1, 1, 4) / chance.one(1, 1, 4);
    this.store = MutantStore.of(world.mutant(), new SimStore(world, this), this);
  }

  String name() {
    return name;
  }

  World world() {
    return world;
  }

  Truth truth() {
    return world.truth();
  }

  /** For what the actor chooses itself. */
  Chance chance() {
    return chance;
  }

  ObjectStore store() {
    return store;
  }

  /** A new handle on the shard. */
  ShardLog open() {
    return new ShardLog(store, this, world.settings().intervals());
  }

  Author author(String role) {
    return new Author(attempt(name), role);
  }

  /** An attempt that begins now, by this host's clock. */
  WriterAttempt attempt(String writer) {
    return new WriterAttempt(writer, clock().toString(), name, "host-of-" + name);
  }

  /** A name for a new part, by this host's clock. */
  String partKey() {
    return "part/"
        + clock().atOffset(ZoneOffset.UTC).toLocalDate()
        + "/"
        + name
        + "-"
        + named++
        + ".parquet";
  }

  /** A name that nobody else has. */
  String freshName() {
    return name + "-" + named++;
  }

  /** What happens besides when this host freezes for long. */
  void whenFrozen(Runnable other) {
    whenFrozen = other;
  }

  /** Bytes came damaged. */
  void wasDamaged() {
    damaged = true;
  }

  /** Whether any did since this was asked last. */
  boolean tookDamage() {
    boolean took = damaged;
    damaged = false;
    return took;
  }

  void tell(Supplier<String> what) {
    world.tell(name, what);
  }

  /** A request's way. */
  void travel() {
    await(waits.happens(0.03) ? waits.between(1_000, 20_000) : waits.between(5, 80));
  }

  /** A rest between turns, about as long as the history's pace says. */
  void rest() {
    await(waits.between(1, 2 * pace));
  }

  /**
   * Freezes here, or not, at a multiple of the usual rate, for a little longer than a lease or than
   * gc.keep.
   */
  void mayFreeze(double times) {
    long frozen = frozenMillis(times, 16, 16, 17, 61, 61, 200);
    if (frozen > 0) {
      world.scheduler().await(frozen);
    }
  }

  private long frozenMillis(double times, Integer... minutes) {
    if (!happens(Fault.FREEZE, times * world.settings().rate(Fault.FREEZE))) {
      return 0;
    }
    long frozen = faults.one(minutes) * MINUTE_MILLIS + faults.below(10_000);
    tell(() -> "freezes for " + frozen / MINUTE_MILLIS + " minutes");
    if (frozen > 15 * MINUTE_MILLIS) {
      whenFrozen.run();
      if (skewMillis != 0) {
        skewMillis += faults.between(-20, 20) * MINUTE_MILLIS; // nobody set its clock meanwhile
      }
    }
    return frozen;
  }

  /** Lets time pass. */
  void await(long millis) {
    waited++;
    long more = frozenMillis(1, 2, 16, 61, 61, 200, 26 * 60);
    Settings settings = world.settings();
    if (happens(Fault.NIGHT, settings)) {
      long night = faults.between(10, 30) * HOUR_MILLIS;
      tell(() -> "and all others sleep for " + night / HOUR_MILLIS + " hours");
      world.scheduler().skip(night);
    }
    if (happens(Fault.KILL, settings)) {
      tell(() -> "is killed");
      throw new Killed();
    }
    world.scheduler().await(millis + more);
  }

  private boolean happens(Fault fault, Settings settings) {
    return happens(fault, settings.rate(fault));
  }

  /** Whether a fault happens here. */
  boolean happens(Fault fault, double rate) {
    int at = waited;
    return world.happens(fault, rate, faults, () -> name + " " + at);
  }

  /** For what a fault chooses. */
  Chance faultChance() {
    return faults;
  }

  private Instant clock() {
    return Instant.ofEpochMilli(world.scheduler().nowMillis() + skewMillis);
  }

  @Override
  public Instant now() {
    return clock();
  }

  @Override
  public long nanoTime() {
    if (waits.happens(0.1)) {
      await(waits.between(0, 20));
    }
    return (world.scheduler().nowMillis() - World.BEGIN_MILLIS) * 1_000_000;
  }

  @Override
  public void pause(long millis) {
    await(millis);
  }

  @Override
  public long random() {
    return chance.bits();
  }

  @Override
  public int sideBySide() {
    return 1;
  }
}
