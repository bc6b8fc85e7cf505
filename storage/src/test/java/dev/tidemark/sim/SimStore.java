package dev.tidemark.sim;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreException.Reason;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** One actor's way to the bucket, on which everything that can go wrong does. */
final class SimStore extends ForwardingStore {
  private interface Request<T> {
    T send() throws StoreException;
  }

  /** How much likelier it is than elsewhere. */
  private static final double FREEZES_AFTER_HOLDS = 8;

  private final World world;
  private final Host host;
  private final Bucket bucket;
  private long unreachableUntil = Long.MIN_VALUE;
  private boolean answersOnly;

  SimStore(World world, Host host) {
    super(world.truth().bucket());
    this.world = world;
    this.host = host;
    this.bucket = world.truth().bucket();
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    String what = "create " + key;
    begin(what);
    if (happens(Fault.CONFLICT)) {
      throw failed(Reason.CONFLICT, false, what, "409");
    }
    Created created = write(what, () -> bucket.putIfAbsent(key, body));
    if (created == Created.EXISTS && key.startsWith("log/") && !isOurs(key, body)) {
      world.count("lost races");
    }
    if (created == Created.YES && happens(Fault.EXISTS)) {
      host.tell(() -> what + ": ours, answered 412");
      return Created.EXISTS;
    }
    host.tell(() -> what + ": " + (created == Created.YES ? "ok" : "exists"));
    return created;
  }

  private boolean isOurs(String key, byte[] body) {
    return bucket.bytes(key).filter(bytes -> Arrays.equals(bytes, body)).isPresent();
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    String what = "put " + key;
    begin(what);
    if (key.startsWith("part/") && happens(Fault.UPLOAD_CUT)) {
      Runnable finish = bucket.upload(key, body);
      if (host.faultChance().happens(0.5)) {
        later(what, finish);
      }
      throw failed(Reason.UNAVAILABLE, true, what, "begun, not finished");
    }
    write(what, () -> put(body, key));
    host.tell(() -> what + ": ok");
  }

  private boolean put(Body body, String key) throws StoreException {
    bucket.put(key, body);
    return true;
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    String what = "get " + key;
    Optional<byte[]> bytes = read(what, () -> bucket.get(key));
    if (bytes.isPresent() && key.startsWith("log/closed/")) {
      world.count("stale handles");
    }
    host.tell(() -> what + (bytes.isPresent() ? "" : ": none"));
    return arrived(key, bytes);
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    String what = "get range of " + key;
    Optional<byte[]> bytes = read(what, () -> bucket.getRange(key, offset, length));
    host.tell(() -> what + (bytes.isPresent() ? "" : ": none"));
    return arrived(key, bytes);
  }

  /**
   * What arrives of what was read. A wrong bit comes only where a checksum of ours must find it:
   * for all else a store's own checksums do.
   */
  private Optional<byte[]> arrived(String key, Optional<byte[]> bytes) {
    if (bytes.isEmpty() || key.startsWith("log/closed/") || !happens(Fault.DAMAGED)) {
      return bytes;
    }
    host.wasDamaged();
    byte[] whole = bytes.get();
    int at = host.faultChance().below(whole.length - 1);
    if (key.startsWith("part/") && host.faultChance().happens(0.7)) {
      host.tell(() -> "gets a wrong bit at " + at);
      byte[] wrong = whole.clone();
      wrong[at] ^= 1;
      return Optional.of(wrong);
    }
    host.tell(() -> "gets only " + at + " bytes");
    return Optional.of(Arrays.copyOf(whole, at));
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    String what = "list " + prefix;
    List<ObjectInfo> infos = read(what, () -> bucket.list(prefix, startAfter, limit));
    if (prefix.equals("hold/")) {
      host.mayFreeze(FREEZES_AFTER_HOLDS); // what was listed gets old
    }
    host.tell(() -> what + ": " + infos.size());
    return infos;
  }

  @Override
  public List<String> listFolders(String prefix) throws StoreException {
    return read("list folders of " + prefix, () -> bucket.listFolders(prefix));
  }

  /** Keys of one request go in any order; if it fails, some may have gone, others later. */
  @Override
  public void delete(List<String> keys) throws StoreException {
    String what = "delete " + keys;
    begin(what);
    List<String> order = shuffled(keys);
    if (order.size() > 1 && happens(Fault.ANSWER_LOST)) {
      int cut = host.faultChance().below(order.size());
      bucket.delete(order.subList(0, cut));
      for (String key : order.subList(cut, order.size())) {
        if (host.faultChance().happens(0.5)) {
          later("delete " + key, () -> delete(key));
        }
      }
      throw failed(Reason.UNAVAILABLE, true, what, "stopped after " + cut + " keys");
    }
    write(
        what,
        () -> {
          bucket.delete(order);
          return true;
        });
    host.tell(() -> what + ": ok");
  }

  private boolean delete(String key) throws StoreException {
    bucket.delete(List.of(key));
    return true;
  }

  private List<String> shuffled(List<String> keys) {
    List<String> order = new ArrayList<>(keys);
    for (int i = order.size() - 1; i > 0; i--) {
      int j = host.faultChance().below(i + 1);
      String swapped = order.get(i);
      order.set(i, order.get(j));
      order.set(j, swapped);
    }
    return order;
  }

  @Override
  public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
    String what = "drop uploads of " + prefix;
    begin(what);
    int dropped = write(what, () -> bucket.dropUploads(prefix, before, limit));
    host.tell(() -> what + ": " + dropped);
    return dropped;
  }

  private boolean happens(Fault fault) {
    return host.happens(fault, world.settings().rate(fault));
  }

  /** The request's way there, on which it may be refused. */
  private void begin(String what) throws StoreException {
    host.travel();
    long now = world.scheduler().nowMillis();
    double rate = world.settings().rate(Fault.PARTITION);
    boolean commits = what.startsWith("create log/"); // the moment at which it hurts most
    if (now >= unreachableUntil && host.happens(Fault.PARTITION, commits ? 6 * rate : rate)) {
      unreachableUntil = now + host.faultChance().between(1, 90) * 60_000;
      answersOnly = host.faultChance().happens(0.5);
    }
    if (now < unreachableUntil && !answersOnly) {
      throw failed(Reason.UNAVAILABLE, true, what, "unreachable");
    }
    if (happens(Fault.REQUEST_LOST)) {
      throw failed(Reason.UNAVAILABLE, true, what, "lost on its way");
    }
    if (happens(Fault.THROTTLED)) {
      throw failed(Reason.THROTTLED, false, what, "503");
    }
  }

  private boolean isCutOff() {
    return world.scheduler().nowMillis() < unreachableUntil;
  }

  private <T> T read(String what, Request<T> request) throws StoreException {
    begin(what);
    if (isCutOff() || happens(Fault.SERVER_ERROR) || happens(Fault.ANSWER_LOST)) {
      throw failed(Reason.UNAVAILABLE, false, what, "500 or no answer");
    }
    return request.send();
  }

  private <T> T write(String what, Request<T> request) throws StoreException {
    if (happens(Fault.LATE)) {
      later(what, request);
      throw failed(Reason.UNAVAILABLE, true, what, "no answer, still under way");
    }
    if (happens(Fault.SERVER_ERROR)) {
      if (host.faultChance().happens(0.5)) {
        request.send();
        throw failed(Reason.UNAVAILABLE, true, what, "took effect, 500");
      }
      throw failed(Reason.UNAVAILABLE, true, what, "500");
    }
    T answer = request.send();
    if (happens(Fault.DUPLICATED)) {
      later(what, request);
    }
    if (isCutOff() || happens(Fault.ANSWER_LOST)) {
      throw failed(Reason.UNAVAILABLE, true, what, "took effect, answer lost");
    }
    return answer;
  }

  private <T> void later(String what, Request<T> request) {
    later(
        what,
        () -> {
          try {
            request.send();
          } catch (StoreException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private void later(String what, Runnable effect) {
    Chance chance = host.faultChance();
    long delay =
        chance.happens(0.5)
            ? chance.between(50, 60_000)
            : chance.happens(0.6)
                ? chance.between(60_000, 1_800_000)
                : chance.between(1_800_000, 11_000_000);
    world
        .scheduler()
        .later(
            delay,
            () -> {
              host.tell(() -> "(late) " + what);
              effect.run();
            });
  }

  private StoreException failed(Reason reason, boolean indeterminate, String what, String how) {
    host.tell(() -> what + ": " + how);
    return new StoreException(reason, indeterminate, what + ": " + how, null);
  }
}
