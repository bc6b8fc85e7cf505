package dev.tidemark.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A store seen from a longer prefix. */
public final class ScopedStore implements ObjectStore {
  private final ObjectStore base;
  private final String prefix;
  private final boolean ownsBase;

  private ScopedStore(ObjectStore base, String prefix, boolean ownsBase) {
    this.base = base;
    this.prefix = Keys.checkFolder(prefix);
    this.ownsBase = ownsBase;
  }

  /** A view whose closing leaves the base open. */
  public static ObjectStore view(ObjectStore base, String prefix) {
    return prefix.isEmpty() ? base : new ScopedStore(base, prefix, false);
  }

  /** A view that closes its base with itself. */
  static ObjectStore owning(ObjectStore base, String prefix) {
    return prefix.isEmpty() ? base : new ScopedStore(base, prefix, true);
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    return base.putIfAbsent(prefix + Keys.check(key), body);
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    base.put(prefix + Keys.check(key), body);
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    return base.get(prefix + Keys.check(key));
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    return base.getRange(prefix + Keys.check(key), offset, length);
  }

  @Override
  public List<ObjectInfo> list(String below, String startAfter, int limit) throws StoreException {
    List<ObjectInfo> found =
        base.list(
            prefix + Keys.checkPrefix(below),
            startAfter.isEmpty() ? "" : prefix + startAfter,
            limit);
    List<ObjectInfo> infos = new ArrayList<>(found.size());
    for (ObjectInfo info : found) {
      infos.add(
          new ObjectInfo(info.key().substring(prefix.length()), info.sizeBytes(), info.modified()));
    }
    return List.copyOf(infos);
  }

  @Override
  public List<String> listFolders(String below) throws StoreException {
    return base.listFolders(prefix + Keys.checkFolder(below));
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    base.delete(keys.stream().map(key -> prefix + Keys.check(key)).toList());
  }

  @Override
  public int dropUploads(String below, Instant before, int limit) throws StoreException {
    return base.dropUploads(prefix + Keys.checkPrefix(below), before, limit);
  }

  @Override
  public ObjectStore yielding() {
    return view(base.yielding(), prefix);
  }

  @Override
  public ObjectStore under(String longer) {
    return view(base, prefix + Keys.checkFolder(longer));
  }

  @Override
  public String location() {
    String parent = base.location();
    String folder = prefix.substring(0, prefix.length() - 1);
    return parent.endsWith("/") ? parent + folder : parent + "/" + folder;
  }

  @Override
  public RequestCounts requests() {
    return base.requests();
  }

  @Override
  public void close() {
    if (ownsBase) {
      base.close();
    }
  }

  @Override
  public String toString() {
    return location();
  }
}
