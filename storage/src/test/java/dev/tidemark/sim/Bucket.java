package dev.tidemark.sim;

import dev.tidemark.store.Body;
import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.MemoryStore;
import dev.tidemark.store.StoreException;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
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

    /** An upload that was begun then is given up. */
    void dropping(String key, long begunMillis);
  }

  private record Upload(String key, long begunMillis) {}

  private final Watcher watcher;
  private final LongSupplier clockMillis;

  /** Large writes that were begun and not finished, in order. */
  private final List<Upload> uploads = new ArrayList<>();

  Bucket(LongSupplier clockMillis, Watcher watcher) {
    super(new MemoryStore("sim", () -> Instant.ofEpochMilli(clockMillis.getAsLong())));
    this.watcher = watcher;
    this.clockMillis = clockMillis;
  }

  /** Begins a large write, of which nothing shows; what is run later finishes it, if it may. */
  Runnable upload(String key, Body body) {
    Upload upload = new Upload(key, clockMillis.getAsLong());
    uploads.add(upload);
    return () -> {
      if (uploads.remove(upload)) {
        try {
          put(key, body);
        } catch (StoreException e) {
          throw new IllegalStateException(e);
        }
      }
    };
  }

  /** The keys of large writes that are not finished. */
  List<String> uploads() {
    return uploads.stream().map(Upload::key).toList();
  }

  @Override
  public int dropUploads(String prefix, Instant before, int limit) {
    int dropped = 0;
    for (Upload upload : List.copyOf(uploads)) {
      boolean old = upload.begunMillis() < before.toEpochMilli();
      if (old && dropped < limit && upload.key().startsWith(prefix)) {
        watcher.dropping(upload.key(), upload.begunMillis());
        uploads.remove(upload);
        dropped++;
      }
    }
    return dropped;
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
