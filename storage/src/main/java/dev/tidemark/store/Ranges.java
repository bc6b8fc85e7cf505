package dev.tidemark.store;

/** What every store says of ranges. */
public final class Ranges {
  private Ranges() {}

  /** Throws when a range isn't one. */
  public static void check(long offset, int length) {
    if (offset < 0 || length < 0) {
      throw new IllegalArgumentException("no such range: " + length + " bytes from " + offset);
    }
  }

  /** The object ends before the range does. */
  public static StoreException tooShort(String object, long sizeBytes, long offset, int length) {
    return new StoreException(
        StoreException.Reason.CORRUPT,
        false,
        String.format("%s has %d bytes; wanted %d from %d on", object, sizeBytes, length, offset),
        null);
  }
}
