package dev.tidemark.read;

import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.util.ArrayList;
import java.util.List;

/** The shards of a warehouse: the folders directly below it that hold a log. */
public final class Shards {
  private Shards() {}

  /** The names of the shards, sorted. */
  public static List<String> names(ObjectStore warehouse) throws StoreException {
    List<String> names = new ArrayList<>();
    for (String folder : warehouse.listFolders("")) {
      if (isShard(warehouse.under(folder))) {
        names.add(folder.substring(0, folder.length() - 1));
      }
    }
    names.sort(null);
    return names;
  }

  /** Whether the store's prefix is a shard's: it holds a log, or a rollup of one. */
  public static boolean isShard(ObjectStore store) throws StoreException {
    return !store.list("log/", "", 1).isEmpty() || !store.list("rollup/", "", 1).isEmpty();
  }
}
