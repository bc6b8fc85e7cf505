package dev.tidemark.store;

/** Opens stores by URL. */
public final class Stores {
  private Stores() {}

  /**
   * Opens the store below a URL: {@code s3://bucket/prefix}, {@code file:///path}, a path, or
   * {@code memory:name/prefix} (one per name and JVM, for tests). Reaches nothing yet.
   *
   * @throws IllegalArgumentException when the URL is none of these, naming it
   */
  public static ObjectStore open(String url, StoreSettings settings) {
    throw new UnsupportedOperationException();
  }

  /**
   * Finds out in seconds whether the store does what is needed: conditional create refused the
   * second time, a missing key answered as missing, and the rights to write, read, list and delete
   * under its prefix.
   *
   * @throws StoreException naming location, operation and mend
   */
  public static void probe(ObjectStore store) throws StoreException {
    throw new UnsupportedOperationException();
  }
}
