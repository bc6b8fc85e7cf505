package dev.tidemark.hold;

import dev.tidemark.log.Hold;
import dev.tidemark.log.HoldCodec;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.Pacing;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The holds on a shard. Whoever destroys makes the intent durable first (since, or the removal of a
 * part, in a checked state), <em>then</em> lists holds here, then acts. Whoever reads writes its
 * hold first, then loads with the check. So either they see the hold, or the reader sees the
 * intent.
 *
 * <p>A hold is live until its modification time and its lease have passed by the store's clock. One
 * that can't be read holds everything, as nobody knows what it holds. Not thread-safe.
 */
public final class Holds {
  /** The least lease: below that a pause of its owner would lose it. */
  public static final Duration LEAST_LEASE = Duration.ofMinutes(1);

  /** The greatest lease: a dead reader holds garbage for that long. */
  public static final Duration GREATEST_LEASE = Duration.ofDays(1);

  /** What a reader takes unless told otherwise. */
  public static final Duration DEFAULT_LEASE = Duration.ofMinutes(15);

  private static final Logger LOG = LoggerFactory.getLogger(Holds.class);
  private static final int PAGE = 1000;
  private static final String PREFIX = "hold/";
  private static final String SUFFIX = ".json";
  private static final Pattern ID = Pattern.compile("[0-9A-Za-z_-]{1,100}");

  private final ObjectStore store;
  private final Pacing pacing;
  private final StoreClock clock;

  /** The holds on the shard of a log, by its store and its time. */
  public Holds(ShardLog log) {
    this(log.store(), log.pacing());
  }

  /** The holds on the shard below the store's prefix. */
  public Holds(ObjectStore store, Pacing pacing) {
    this.store = store;
    this.pacing = pacing;
    this.clock = new StoreClock(store, pacing, freshId(pacing));
  }

  /**
   * A hold as it lies in the store.
   *
   * @param id its id
   * @param modified when its owner last wrote it, by the store's clock
   * @param hold what it says; what holds everything, where it can't be read
   */
  public record Listed(String id, Instant modified, Hold hold) {
    /** When it ends unless it is renewed, by the store's clock. */
    public Instant expires() {
      return modified.plusMillis(hold.leaseMillis());
    }
  }

  /** The store's clock. */
  public StoreClock clock() {
    return clock;
  }

  /** An id that nobody else has. */
  static String freshId(Pacing pacing) {
    return String.format("%016x%016x", pacing.random(), pacing.random());
  }

  static String key(String id) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException("'" + id + "' is no hold's id");
    }
    return PREFIX + id + SUFFIX;
  }

  /** All holds that lie in the store, expired ones too. */
  public List<Listed> list() throws IOException {
    List<Listed> holds = new ArrayList<>();
    String after = "";
    while (true) {
      List<ObjectInfo> page = store.list(PREFIX, after, PAGE);
      for (ObjectInfo object : page) {
        if (!StoreClock.isClock(object.key())) {
          read(object).ifPresent(holds::add);
        }
      }
      if (page.size() < PAGE) {
        return holds;
      }
      after = page.get(page.size() - 1).key();
    }
  }

  private Optional<Listed> read(ObjectInfo object) throws IOException {
    String key = object.key();
    Optional<byte[]> bytes = store.get(key);
    if (bytes.isEmpty()) {
      return Optional.empty(); // dropped since it was listed
    }
    String id = key.substring(PREFIX.length());
    id = id.endsWith(SUFFIX) ? id.substring(0, id.length() - SUFFIX.length()) : id;
    Hold hold;
    try {
      hold = HoldCodec.decode(bytes.get(), store.location() + "/" + key);
    } catch (LogFormatException e) {
      LOG.warn("A hold that can't be read holds everything until it expires: {}", e.getMessage());
      long lease = DEFAULT_LEASE.toMillis();
      hold = new Hold(SeqNo.ZERO, Frontier.MINIMUM, lease, "(unreadable)", "");
    }
    return Optional.of(new Listed(id, object.modified(), hold));
  }

  /**
   * The holds that may be live. The time comes before the list that is judged by it: a hold may be
   * renewed between the two, and its modification time must not be older than what we know. Asks
   * the store for its time only where there is a hold.
   */
  public List<Listed> live() throws IOException {
    if (list().isEmpty()) {
      return List.of();
    }
    Instant passed = clock.passed();
    return list().stream().filter(listed -> !passed.isAfter(listed.expires())).toList();
  }

  /**
   * How far a merge may go: the least since of all that may be live, the end without any. To be
   * called <em>after</em> the state was read that the merge is planned on, never before.
   */
  public Frontier leastSince() throws IOException {
    Frontier least = Frontier.END;
    for (Listed listed : live()) {
      least = least.min(listed.hold().since());
    }
    return least;
  }

  /**
   * Writes a new hold. When this returns it is there; its owner must then load with the check.
   *
   * @throws IllegalArgumentException when the lease is out of bounds
   */
  public OwnHold create(Hold hold) throws IOException {
    checkLease(Duration.ofMillis(hold.leaseMillis()));
    return new OwnHold(store, pacing, freshId(pacing), hold);
  }

  /** Refuses a lease that is no sensible one, naming the bounds. */
  public static void checkLease(Duration lease) {
    if (lease.compareTo(LEAST_LEASE) < 0 || lease.compareTo(GREATEST_LEASE) > 0) {
      throw new IllegalArgumentException(
          "hold.expiry is " + lease + ": must be from " + LEAST_LEASE + " to " + GREATEST_LEASE);
    }
  }

  /** Deletes a hold, whoever owns it: its owner learns it when it renews. */
  public void drop(String id) throws StoreException {
    store.delete(List.of(key(id)));
  }

  /**
   * The keys of holds and clocks that ended so long ago that no owner can still think it has them,
   * at most {@code most}.
   */
  public List<String> leftovers(int most) throws IOException {
    List<String> keys = new ArrayList<>();
    if (store.list(PREFIX, "", 1).isEmpty()) {
      return keys;
    }
    Instant passed = clock.passed(); // before the list, as in live()
    for (ObjectInfo object : store.list(PREFIX, "", PAGE)) {
      Duration lasts = GREATEST_LEASE;
      if (!StoreClock.isClock(object.key())) {
        Optional<Listed> hold = read(object);
        lasts = hold.map(h -> Duration.ofMillis(h.hold().leaseMillis())).orElse(lasts);
      }
      if (keys.size() < most && passed.isAfter(object.modified().plus(lasts.multipliedBy(2)))) {
        keys.add(object.key());
      }
    }
    return keys;
  }
}
