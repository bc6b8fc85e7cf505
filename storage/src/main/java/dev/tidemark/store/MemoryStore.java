package dev.tidemark.store;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;

/** A store in this JVM's memory, for tests. It keeps its objects when closed. */
public final class MemoryStore implements ObjectStore {
  private static final class Stored {
    final byte[] bytes;
    final Instant modified;

    Stored(byte[] bytes, Instant modified) {
      this.bytes = bytes;
      this.modified = modified;
    }
  }

  private final String name;
  private final InstantSource clock;
  private final ConcurrentSkipListMap<String, Stored> objects =
      new ConcurrentSkipListMap<>(Keys.ORDER);
  private final RequestCounts requests = new RequestCounts();

  /**
   * An empty store of one's own, reachable by no URL.
   *
   * @param name for messages
   * @param clock gives the objects' modification times
   */
  public MemoryStore(String name, InstantSource clock) {
    this.name = name;
    this.clock = clock;
  }

  /** An empty store by the system's clock. */
  public MemoryStore(String name) {
    this(name, InstantSource.system());
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) {
    requests.put(body.length);
    Stored stored = new Stored(body.clone(), clock.instant());
    return objects.putIfAbsent(Keys.check(key), stored) == null ? Created.YES : Created.EXISTS;
  }

  @Override
  public void put(String key, Body body) {
    requests.put(body.sizeBytes());
    byte[] bytes = new byte[Math.toIntExact(body.sizeBytes())];
    int at = 0;
    for (byte[] segment : body.segments()) {
      System.arraycopy(segment, 0, bytes, at, segment.length);
      at += segment.length;
    }
    objects.put(Keys.check(key), new Stored(bytes, clock.instant()));
  }

  @Override
  public Optional<byte[]> get(String key) {
    Stored stored = objects.get(Keys.check(key));
    requests.get(stored == null ? 0 : stored.bytes.length);
    return Optional.ofNullable(stored).map(found -> found.bytes.clone());
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    Ranges.check(offset, length);
    Stored stored = objects.get(Keys.check(key));
    requests.get(stored == null ? 0 : length);
    if (stored == null) {
      return Optional.empty();
    }
    if (stored.bytes.length < offset + length) {
      throw Ranges.tooShort(location() + "/" + key, stored.bytes.length, offset, length);
    }
    int from = (int) offset;
    return Optional.of(Arrays.copyOfRange(stored.bytes, from, from + length));
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) {
    requests.list();
    List<ObjectInfo> infos = new ArrayList<>();
    for (var entry : from(Keys.checkPrefix(prefix), startAfter).entrySet()) {
      String key = entry.getKey();
      if (infos.size() >= limit || !key.startsWith(prefix)) {
        break;
      }
      if (!key.equals(startAfter)) {
        Stored stored = entry.getValue();
        infos.add(new ObjectInfo(key, stored.bytes.length, stored.modified));
      }
    }
    return List.copyOf(infos);
  }

  @Override
  public List<String> listFolders(String prefix) {
    requests.list();
    TreeSet<String> folders = new TreeSet<>(Keys.ORDER);
    for (String key : from(Keys.checkFolder(prefix), "").keySet()) {
      if (!key.startsWith(prefix)) {
        break;
      }
      int slash = key.indexOf('/', prefix.length());
      if (slash >= 0) {
        folders.add(key.substring(prefix.length(), slash + 1));
      }
    }
    return List.copyOf(folders);
  }

  private SortedMap<String, Stored> from(String prefix, String startAfter) {
    return objects.tailMap(Keys.ORDER.compare(startAfter, prefix) > 0 ? startAfter : prefix);
  }

  @Override
  public void delete(List<String> keys) {
    if (!keys.isEmpty()) {
      requests.delete();
    }
    keys.forEach(key -> objects.remove(Keys.check(key)));
  }

  @Override
  public ObjectStore under(String prefix) {
    return ScopedStore.view(this, prefix);
  }

  @Override
  public String location() {
    return "memory:" + name;
  }

  @Override
  public RequestCounts requests() {
    return requests;
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return location();
  }
}
