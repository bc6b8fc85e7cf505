package dev.tidemark.store;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What Tidemark asks of object storage: a map from keys to bytes below one prefix, with strongly
 * consistent reads and listings, and a create that fails when the key exists. Thread-safe. Every
 * method may throw a {@link StoreException}; those that read change nothing.
 */
public interface ObjectStore extends AutoCloseable {
  /** What a conditional create did. */
  enum Created {
    /** The key holds our bytes. */
    YES,
    /**
     * The key was there already; ours may still be the bytes if an earlier try was answered lost.
     */
    EXISTS
  }

  /**
   * Creates the key unless it exists ({@code If-None-Match: *}). One request, at most a few MiB.
   */
  Created putIfAbsent(String key, byte[] body) throws StoreException;

  /**
   * Stores the bytes under the key, which nobody else writes. Large bodies go in several requests.
   */
  void put(String key, Body body) throws StoreException;

  /** The object, whole; empty when there is none. */
  Optional<byte[]> get(String key) throws StoreException;

  /**
   * {@code length} bytes from {@code offset} on; empty when there is no object; an error when it is
   * shorter.
   */
  Optional<byte[]> getRange(String key, long offset, int length) throws StoreException;

  /**
   * The objects whose key begins with {@code prefix}, in key order, those after {@code startAfter}
   * only (empty: from the first), at most {@code limit}.
   */
  List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException;

  /** The names directly below {@code prefix} that have objects below them, each ending in '/'. */
  List<String> listFolders(String prefix) throws StoreException;

  /** Deletes the keys; one that isn't there is no error. */
  void delete(List<String> keys) throws StoreException;

  /**
   * Gives up large writes below {@code prefix} that were begun before a time, by the store's clock,
   * and never finished: nothing shows of them but what their parts cost. At most {@code limit}.
   *
   * @return how many; 0 where a store leaves nothing behind or can't list what it leaves
   */
  default int dropUploads(String prefix, Instant before, int limit) throws StoreException {
    return 0;
  }

  /** The same store seen from a longer prefix ({@code "orders/"}). Closing it closes nothing. */
  ObjectStore under(String prefix);

  /**
   * The same store for work that can wait: while it asks for fewer requests, those made here wait
   * for the others' sake. Closing it closes nothing.
   */
  default ObjectStore yielding() {
    return ScopedStore.view(this, "");
  }

  /**
   * Where this store stands, as a user writes it: {@code s3://bucket/warehouse/orders}. For
   * messages.
   */
  String location();

  /** Requests made so far through this store and its relatives. */
  RequestCounts requests();

  @Override
  void close();
}
