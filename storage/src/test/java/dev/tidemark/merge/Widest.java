package dev.tidemark.merge;

import dev.tidemark.store.ForwardingStore;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.Optional;

/** Notes how much is fetched at a time, and in all. */
final class Widest extends ForwardingStore {
  long most;
  long all;

  Widest(ObjectStore store) {
    super(store);
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    Optional<byte[]> bytes = super.get(key);
    note(bytes.map(array -> array.length).orElse(0));
    return bytes;
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    note(length);
    return super.getRange(key, offset, length);
  }

  private void note(int length) {
    most = Math.max(most, length);
    all += length;
  }
}
