package dev.tidemark.hold;

import dev.tidemark.log.Pacing;
import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store's time, learnt from the modification time of an object that this clock writes, and
 * carried on for a while by a clock that only goes on. The local wall clock is never asked. Not
 * thread-safe.
 */
public final class StoreClock {
  /**
   * What a store's clock may be wrong against itself: modification times are whole seconds, and the
   * nodes of a store differ a little.
   */
  public static final Duration ERROR = Duration.ofSeconds(5);

  /** How long the time is carried on before it is asked again. */
  private static final long CARRIED_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final Logger LOG = LoggerFactory.getLogger(StoreClock.class);

  private final ObjectStore store;
  private final Pacing pacing;
  private final String key;
  private @Nullable Instant learnt;
  private long learntNanos;

  /** A clock of the store below a shard's prefix, with a name that nobody else has. */
  public StoreClock(ObjectStore store, Pacing pacing, String name) {
    this.store = store;
    this.pacing = pacing;
    this.key = "hold/clock-" + name + ".json";
  }

  /** Whether a key below {@code hold/} is a clock's. */
  static boolean isClock(String key) {
    return key.startsWith("hold/clock-");
  }

  /** A time that the store's clock has certainly passed, and not by much. */
  public Instant passed() throws StoreException {
    Instant known = learnt;
    if (known == null || pacing.nanoTime() - learntNanos > CARRIED_NANOS) {
      known = ask();
      learntNanos = pacing.nanoTime();
      learnt = known;
    }
    long since = pacing.nanoTime() - learntNanos;
    return known.plusNanos(since).minus(ERROR);
  }

  /**
   * Writes, lists and deletes the clock's object; what it leaves when interrupted holds nothing.
   */
  private Instant ask() throws StoreException {
    store.put(key, Body.of(new byte[] {'{', '}'}));
    List<ObjectInfo> listed = store.list(key, "", 1);
    if (listed.isEmpty()) {
      throw new StoreException(
          StoreException.Reason.CONFLICT, false, key + " was deleted while it was looked at", null);
    }
    try {
      store.delete(List.of(key));
    } catch (StoreException e) {
      // It holds nothing, and goes with the holds that ended long ago.
      LOG.debug("A clock's object stays: {}", e.getMessage());
    }
    return listed.get(0).modified();
  }
}
