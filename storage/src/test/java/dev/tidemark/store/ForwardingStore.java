package dev.tidemark.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Passes everything on to another store; a test overrides what should go otherwise. */
public class ForwardingStore implements ObjectStore {
  private final ObjectStore store;

  public ForwardingStore(ObjectStore store) {
    this.store = store;
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    return store.putIfAbsent(key, body);
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    store.put(key, body);
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    return store.get(key);
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    return store.getRange(key, offset, length);
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    return store.list(prefix, startAfter, limit);
  }

  @Override
  public List<String> listFolders(String prefix) throws StoreException {
    return store.listFolders(prefix);
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    store.delete(keys);
  }

  @Override
  public int dropUploads(String prefix, Instant before, int limit) throws StoreException {
    return store.dropUploads(prefix, before, limit);
  }

  /** A view whose requests come through this store. */
  @Override
  public ObjectStore under(String prefix) {
    return ScopedStore.view(this, prefix);
  }

  @Override
  public String location() {
    return store.location();
  }

  @Override
  public RequestCounts requests() {
    return store.requests();
  }

  @Override
  public void close() {
    store.close();
  }
}
