package dev.tidemark.flink;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Kills a job once, at the n-th time that it comes to a point. What is killed makes no request any
 * more, as a process that is gone makes none; or, where it is less thoroughly dead, the other
 * threads' requests still land.
 */
final class Killer {
  private static final Map<String, Killer> KILLERS = new ConcurrentHashMap<>();

  private final @Nullable KillPoint point;
  private final boolean wholly;
  private final PacedInput.Pace pace;
  private final AtomicInteger left;
  private final CountDownLatch fired = new CountDownLatch(1);
  private final AtomicInteger lives = new AtomicInteger();
  private final AtomicInteger heldSnapshots = new AtomicInteger();
  private volatile boolean dead;
  private volatile @Nullable String passed;
  private volatile long slowMillis;
  private volatile String slowRole = "nobody";

  private Killer(@Nullable KillPoint point, int time, boolean wholly, PacedInput.Pace pace) {
    this.point = point;
    this.wholly = wholly;
    this.pace = pace;
    this.left = new AtomicInteger(time);
  }

  /**
   * A killer for a run.
   *
   * @param point null: nothing is killed
   * @param time at the how manieth time, from 1
   * @param wholly whether nothing that is under way elsewhere goes on
   */
  static Killer begin(
      String run, @Nullable KillPoint point, int time, boolean wholly, PacedInput.Pace pace) {
    Killer killer = new Killer(point, time, wholly, pace);
    KILLERS.put(run, killer);
    return killer;
  }

  static Killer of(String run) {
    return KILLERS.get(run);
  }

  boolean awaitFired(long seconds) throws InterruptedException {
    return fired.await(seconds, TimeUnit.SECONDS);
  }

  boolean hasFired() {
    return fired.getCount() == 0;
  }

  /** How often the job began. */
  int lives() {
    return lives.get();
  }

  /** Lets the next so many snapshots of one operator take longer than a checkpoint may. */
  void holdSnapshots(int count) {
    heldSnapshots.set(count);
  }

  int heldSnapshots() {
    return heldSnapshots.get();
  }

  /** Makes what the threads of a role write to the store take this long. */
  void slow(String role, long millis) {
    slowRole = role;
    slowMillis = millis;
  }

  /** A snapshot is taken where one may be held. */
  void snapshot(long heldMillis) throws InterruptedException {
    if (heldSnapshots.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
      TimeUnit.MILLISECONDS.sleep(heldMillis);
    }
  }

  /** An operator of a new attempt is made: by then all of the old one are gone. */
  void begins(boolean first) {
    dead = false;
    pace.doom(false);
    if (first) {
      lives.incrementAndGet();
    }
  }

  /** The job has come to a point. */
  void at(KillPoint here) {
    if (isDue(here)) {
      die();
      throw new CountedRows.InjectedFailure();
    }
  }

  private boolean isDue(KillPoint here) {
    return here == point && left.decrementAndGet() == 0;
  }

  /** Also where a failure is that of a thread which takes it easy. */
  private void die() {
    dead = wholly;
    pace.doom(true);
    fired.countDown();
  }

  /** The first shard that comes passes, the next one is not told. */
  private void passOneShard(String shard) {
    if (point != KillPoint.ONE_SHARD_OF_MANY) {
      return;
    }
    boolean dies;
    synchronized (this) {
      String before = passed;
      dies = before != null && !before.equals(shard) && isDue(KillPoint.ONE_SHARD_OF_MANY);
      passed = shard;
    }
    if (dies) {
      die();
      throw new CountedRows.InjectedFailure();
    }
  }

  /** The run's store: what happens to requests is part of the death. */
  static ObjectStore around(ObjectStore store, String run) {
    return new Dying(store, run);
  }

  private static boolean isBy(String role) {
    return Thread.currentThread().getName().startsWith("tidemark-" + role);
  }

  /** Asks whoever is the run's killer by then. */
  private static final class Dying extends ForwardingStore {
    private final String run;

    Dying(ObjectStore store, String run) {
      super(store);
      this.run = run;
    }

    private Killer killer() {
      return Killer.of(run);
    }

    private void takeTime() throws StoreException {
      Killer killer = killer();
      if (killer.slowMillis > 0 && isBy(killer.slowRole)) {
        try {
          TimeUnit.MILLISECONDS.sleep(killer.slowMillis);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new StoreException(StoreException.Reason.OTHER, true, "interrupted", e);
        }
      }
    }

    private void checkAlive() throws StoreException {
      if (killer().dead && isBy("")) {
        throw new StoreException(StoreException.Reason.OTHER, false, "this process is dead", null);
      }
    }

    @Override
    public Created putIfAbsent(String key, byte[] body) throws StoreException {
      checkAlive();
      takeTime();
      boolean entry = key.contains("/log/") && !key.contains("closed");
      boolean append = entry && isBy("append");
      if (append) {
        killer().at(KillPoint.APPEND_LOST);
        killer().passOneShard(key.substring(0, key.indexOf('/')));
      }
      Created created = super.putIfAbsent(key, body);
      if (append && killer().isDue(KillPoint.ANSWER_LOST)) {
        killer().fired.countDown();
        throw new StoreException(
            StoreException.Reason.UNAVAILABLE, true, "the answer about " + key + " was lost", null);
      }
      if (append) {
        killer().at(KillPoint.APPEND_STORED);
      }
      if (entry && isBy("install")) {
        killer().at(KillPoint.INSTALL_STORED);
      }
      if (key.contains("/rollup/")) {
        killer().at(KillPoint.ROLLUP_STORED);
      }
      return created;
    }

    @Override
    public void put(String key, Body body) throws StoreException {
      checkAlive();
      takeTime();
      if (isBy("write")) {
        killer().at(KillPoint.UPLOADING);
      }
      super.put(key, body);
      if (isBy("write")) {
        killer().at(KillPoint.UPLOADED);
      }
      if (isBy("merge")) {
        killer().at(KillPoint.MERGE_UPLOADED);
      }
    }

    @Override
    public Optional<byte[]> get(String key) throws StoreException {
      checkAlive();
      return super.get(key);
    }

    @Override
    public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
      checkAlive();
      return super.getRange(key, offset, length);
    }

    @Override
    public void delete(List<String> keys) throws StoreException {
      checkAlive();
      if (killer().isDue(KillPoint.DELETED)) {
        super.delete(keys.subList(0, (keys.size() + 1) / 2));
        killer().die();
        throw new CountedRows.InjectedFailure();
      }
      super.delete(keys);
    }
  }
}
