package dev.tidemark.store;

import dev.tidemark.store.s3.S3Settings;
import dev.tidemark.store.s3.S3Store;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Pattern;

/** Opens stores by URL. */
public final class Stores {
  private static final Pattern BUCKET =
      Pattern.compile("[a-zA-Z0-9][a-zA-Z0-9._-]{1,61}[a-zA-Z0-9]");
  private static final Pattern SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]+:.*");

  /** The stores behind memory: URLs, which must outlive those who open them. */
  private static final ConcurrentMap<String, ObjectStore> MEMORY = new ConcurrentHashMap<>();

  private Stores() {}

  /**
   * Puts a store behind {@code memory:name}, in the place of the one that is there: for a test that
   * needs one which fails, or counts.
   */
  public static void putMemory(String name, ObjectStore store) {
    MEMORY.put(name, store);
  }

  /**
   * Opens the store below a URL: {@code s3://bucket/prefix}, {@code file:///path}, a path, or
   * {@code memory:name/prefix} (one per name and JVM, for tests). Reaches nothing yet. The parts of
   * a URL are taken as they stand, without percent-decoding.
   *
   * @throws IllegalArgumentException when the URL is none of these, naming it; or when a setting is
   *     unknown or makes no sense
   */
  public static ObjectStore open(String url, StoreSettings settings) {
    if (url.startsWith("s3://")) {
      return openS3(url, settings);
    }
    if (url.startsWith("memory:")) {
      return openMemory(url);
    }
    if (url.startsWith("file:")) {
      String rest = url.substring("file:".length());
      String path = rest.startsWith("//") ? rest.substring(2) : rest;
      if (!path.startsWith("/")) {
        throw refused(url, "a file URL has three slashes and a whole path: file:///data/shards");
      }
      return openFile(url, path);
    }
    if (url.isBlank()) {
      throw refused(url, "it is empty");
    }
    if (SCHEME.matcher(url).matches()) {
      throw refused(url, "its scheme is none of s3:, file:, memory:");
    }
    return openFile(url, url);
  }

  private static ObjectStore openFile(String url, String path) {
    try {
      return new FileStore(Path.of(path));
    } catch (InvalidPathException e) {
      throw refused(url, e.getReason());
    }
  }

  private static ObjectStore openMemory(String url) {
    String rest = url.substring("memory:".length());
    int slash = rest.indexOf('/');
    String name = slash < 0 ? rest : rest.substring(0, slash);
    if (name.isEmpty()) {
      throw refused(url, "a memory store has a name: memory:test/orders");
    }
    String prefix = slash < 0 ? "" : prefix(url, rest.substring(slash + 1));
    return ScopedStore.view(MEMORY.computeIfAbsent(name, MemoryStore::new), prefix);
  }

  private static ObjectStore openS3(String url, StoreSettings settings) {
    String rest = url.substring("s3://".length());
    int slash = rest.indexOf('/');
    String bucket = slash < 0 ? rest : rest.substring(0, slash);
    if (bucket.isEmpty()) {
      throw refused(url, "it names no bucket; write s3://bucket/prefix");
    }
    if (!BUCKET.matcher(bucket).matches()) {
      throw refused(url, "'" + bucket + "' can't be a bucket's name");
    }
    String prefix = slash < 0 ? "" : prefix(url, rest.substring(slash + 1));
    return ScopedStore.owning(new S3Store(bucket, S3Settings.of(settings)), prefix);
  }

  private static String prefix(String url, String written) {
    String prefix = written.isEmpty() || written.endsWith("/") ? written : written + "/";
    try {
      return Keys.checkFolder(prefix);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "'" + url + "' is no place for a shard: " + e.getMessage(), e);
    }
  }

  private static IllegalArgumentException refused(String url, String why) {
    return new IllegalArgumentException("'" + url + "' is no place for a shard: " + why);
  }

  /** Drops the memory store of that name with all its objects, so that a test begins afresh. */
  public static void forgetMemory(String name) {
    MEMORY.remove(name);
  }

  /**
   * Finds out in seconds whether the store does what is needed: conditional create refused the
   * second time, a missing key answered as missing, and the rights to write, read, list and delete
   * under its prefix. Lacking only the right to delete is reported, not thrown.
   *
   * @throws StoreException naming location, operation and mend
   */
  public static ProbeReport probe(ObjectStore store) throws StoreException {
    return new StoreProbe(store).run();
  }
}
