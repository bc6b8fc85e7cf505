package dev.tidemark.sim;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Breaks the protocol from below: what is left out of the code under test looks, from here, like a
 * store that always answers as if it had been there and gone well.
 */
final class MutantStore extends ForwardingStore {
  private final Mutant mutant;
  private final Map<String, byte[]> ours = new HashMap<>();

  /** Markers that were once found absent. */
  private final Set<String> open = new HashSet<>();

  private final Host host;

  private MutantStore(Mutant mutant, ObjectStore store, Host host) {
    super(store);
    this.mutant = mutant;
    this.host = host;
  }

  static ObjectStore of(Mutant mutant, ObjectStore store, Host host) {
    return switch (mutant) {
      case NONCE_NOT_COMPARED,
          EXISTS_IS_WON,
          CLOSED_NOT_CHECKED,
          CLOSED_CHECKED_ONCE,
          HOLDS_NOT_SEEN,
          OWN_CLOCK,
          UPLOADS_LEFT,
          BLOCK_NOT_CLOSED ->
          new MutantStore(mutant, store, host);
      case NONE,
          NOT_FENCED,
          UPPER_IS_DONE,
          UNKNOWN_IS_FAILED,
          MERGE_CLEANS_UP,
          INPUTS_NOT_CHECKED,
          NOTHING_KEPT,
          MERGE_PAST_HOLDS,
          HOLD_AFTER_LOAD,
          GONE_PARTS_LEFT_OUT,
          CHECKSUMS_NOT_COMPARED,
          CUT_ROWS_KEPT,
          MARKER_UNCLEAR,
          ROLLUP_NOT_READ,
          NEWEST_ROLLUP_ONLY,
          SWEEP_NOT_ANNOUNCED,
          SWEEP_TAKES_ALL,
          MERGE_LOSES_ERRORS,
          MERGE_LOSES_TIMES ->
          store;
    };
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    if (key.startsWith("log/closed/") && mutant == Mutant.BLOCK_NOT_CLOSED) {
      return Created.YES;
    }
    if (key.startsWith("log/") && mutant == Mutant.NONCE_NOT_COMPARED) {
      ours.put(key, body);
    }
    Created created = super.putIfAbsent(key, body);
    return key.startsWith("log/") && mutant == Mutant.EXISTS_IS_WON ? Created.YES : created;
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    boolean isMarker = key.startsWith("log/closed/");
    Optional<byte[]> bytes = super.get(key);
    if (isMarker && mutant == Mutant.CLOSED_NOT_CHECKED) {
      return Optional.empty();
    }
    if (isMarker && mutant == Mutant.CLOSED_CHECKED_ONCE) {
      return bytes.isPresent() && open.contains(key) ? Optional.empty() : remembered(key, bytes);
    }
    byte[] mine = ours.remove(key);
    return bytes.isPresent() && mine != null ? Optional.of(mine) : bytes;
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    List<ObjectInfo> infos = super.list(prefix, startAfter, limit);
    if (prefix.startsWith("hold/clock-") && mutant == Mutant.OWN_CLOCK) {
      return infos.stream().map(this::modifiedNow).toList();
    }
    return prefix.equals("hold/") && mutant == Mutant.HOLDS_NOT_SEEN ? List.of() : infos;
  }

  private Optional<byte[]> remembered(String marker, Optional<byte[]> bytes) {
    if (bytes.isEmpty()) {
      open.add(marker);
    }
    return bytes;
  }

  @Override
  public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
    return mutant == Mutant.UPLOADS_LEFT ? 0 : super.dropUploads(prefix, before, limit);
  }

  private ObjectInfo modifiedNow(ObjectInfo object) {
    return new ObjectInfo(object.key(), object.sizeBytes(), host.now());
  }
}
