package dev.tidemark.sim;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/** The objects themselves, by the store's clock. A watcher sees every change, never a request. */
final class Bucket extends ForwardingStore {
  /** Sees what happens to objects. Throws {@link ViolationError} when it must not. */
  interface Watcher {
    /** A key came to be. */
    void created(String key, byte[] bytes);

    /** A key that was there got these bytes. */
    void overwritten(String key, byte[] before, byte[] bytes);

    /** A key is about to go. */
    void deleting(String key);
  }

  private final Watcher watcher;

  Bucket(LongSupplier clockMillis, Watcher watcher) {
    super(new MemoryStore("sim", () -> Instant.ofEpochMilli(clockMillis.getAsLong())));
    this.watcher = watcher;
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    Created created = super.putIfAbsent(key, body);
    if (created == Created.YES) {
      watcher.created(key, body);
    }
    return created;
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    Optional<byte[]> before = super.get(key);
    super.put(key, body);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    body.segments().forEach(bytes::writeBytes);
    if (before.isPresent()) {
      watcher.overwritten(key, before.get(), bytes.toByteArray());
    } else {
      watcher.created(key, bytes.toByteArray());
    }
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    for (String key : keys) {
      if (has(key)) {
        watcher.deleting(key);
        super.delete(List.of(key));
      }
    }
  }

  /** Whether the key is there. */
  boolean has(String key) {
    return bytes(key).isPresent();
  }

  /** What is under the key. */
  Optional<byte[]> bytes(String key) {
    try {
      return super.get(key);
    } catch (StoreException e) {
      throw new IllegalStateException(e);
    }
  }

  /** All keys that begin so, in order. */
  List<String> keys(String prefix) {
    try {
      return super.list(prefix, "", Integer.MAX_VALUE).stream().map(o -> o.key()).toList();
    } catch (StoreException e) {
      throw new IllegalStateException(e);
    }
  }
}
