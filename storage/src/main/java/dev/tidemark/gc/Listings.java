package dev.tidemark.gc;

import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.ArrayList;
import java.util.List;

/** Listings of more than a page. */
final class Listings {
  private static final int PAGE = 1000;

  private Listings() {}

  /** All objects whose key begins with {@code prefix}. */
  static List<ObjectInfo> all(ObjectStore store, String prefix) throws StoreException {
    List<ObjectInfo> all = new ArrayList<>();
    String after = "";
    while (true) {
      List<ObjectInfo> page = store.list(prefix, after, PAGE);
      all.addAll(page);
      if (page.size() < PAGE) {
        return all;
      }
      after = page.get(page.size() - 1).key();
    }
  }
}
