package dev.tidemark.store;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;

/** What a key may look like, and the order of keys: the same for every store. */
public final class Keys {
  /** S3's limit. */
  public static final int MAX_BYTES = 1024;

  /** Names that begin so are a file store's unfinished writes; no key may use them. */
  static final String HIDDEN = ".tidemark-tmp-";

  /** The order of S3 listings: by the bytes of the UTF-8 form. */
  public static final Comparator<String> ORDER =
      (a, b) ->
          Arrays.compareUnsigned(
              a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  private Keys() {}

  /**
   * Throws when a key can't be stored everywhere: names between single slashes, none of them empty,
   * "." or "..", no control characters, at most {@link #MAX_BYTES}.
   */
  public static String check(String key) {
    if (key.isEmpty() || key.endsWith("/")) {
      throw new IllegalArgumentException("a key names an object, not a folder: '" + key + "'");
    }
    checkNames(key, key);
    return key;
  }

  /** Like {@link #check} for the beginning of a key; it may be empty and may end in a slash. */
  public static String checkPrefix(String prefix) {
    if (!prefix.isEmpty()) {
      String names =
          prefix.endsWith("/") && prefix.length() > 1
              ? prefix.substring(0, prefix.length() - 1)
              : prefix;
      checkNames(names, prefix);
    }
    return prefix;
  }

  /** Like {@link #checkPrefix} for a folder: empty or ending in a slash. */
  public static String checkFolder(String prefix) {
    if (!prefix.isEmpty() && !prefix.endsWith("/")) {
      throw new IllegalArgumentException("a folder's prefix ends in '/': '" + prefix + "'");
    }
    return checkPrefix(prefix);
  }

  private static void checkNames(String names, String whole) {
    if (whole.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw new IllegalArgumentException("a key has at most " + MAX_BYTES + " bytes: " + whole);
    }
    if (whole.chars().anyMatch(c -> c < 0x20 || c == 0x7f)) {
      throw new IllegalArgumentException("a key has no control characters: '" + whole + "'");
    }
    for (String name : names.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..") || name.startsWith(HIDDEN)) {
        throw new IllegalArgumentException("no such name in a key: '" + name + "' in " + whole);
      }
    }
  }
}
