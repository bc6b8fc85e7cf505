package dev.tidemark.job;

import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@link LatestCheckpoint} does for folders, for checkpoints in S3: they are written by a
 * cluster's own S3 plugin, which isn't there in the process that submits the job, and looked for by
 * way of the {@code s3.*} settings.
 */
final class StoredCheckpoints {
  private static final int PAGE = 1000;

  private StoredCheckpoints() {}

  /**
   * The path of the newest complete checkpoint or savepoint below a writer's folder.
   *
   * @param tidy whether the checkpoints that are older are deleted
   */
  static Optional<String> newest(String writerDirectory, StoreSettings settings, boolean tidy)
      throws StoreException {
    try (ObjectStore store = Stores.open(writerDirectory, settings)) {
      List<LatestCheckpoint.Found> all = all(store);
      Optional<LatestCheckpoint.Found> newest = all.stream().max(LatestCheckpoint.age());
      if (tidy && newest.isPresent()) {
        for (LatestCheckpoint.Found old : all) {
          if (!old.isSavepoint() && LatestCheckpoint.age().compare(old, newest.get()) < 0) {
            delete(store, old.path() + "/");
          }
        }
      }
      return newest.map(found -> writerDirectory + "/" + found.path());
    }
  }

  /** Whether one lies there. */
  static boolean isComplete(String path, StoreSettings settings) throws StoreException {
    try (ObjectStore store = Stores.open(path, settings)) {
      return find(store, LatestCheckpoint.METADATA).isPresent();
    }
  }

  private static Optional<ObjectInfo> find(ObjectStore store, String key) throws StoreException {
    return store.list(key, "", 1).stream().filter(object -> object.key().equals(key)).findFirst();
  }

  /** Those that are there, by their paths below the writer's folder. */
  private static List<LatestCheckpoint.Found> all(ObjectStore store) throws StoreException {
    List<LatestCheckpoint.Found> found = new ArrayList<>();
    for (String job : store.listFolders("")) {
      boolean savepoints = job.equals(LatestCheckpoint.SAVEPOINTS + "/");
      for (String folder : store.listFolders(job)) {
        String name = folder.substring(0, folder.length() - 1);
        if (!savepoints && !name.matches(LatestCheckpoint.CHECKPOINT + "\\d+")) {
          continue;
        }
        Optional<ObjectInfo> metadata = find(store, job + folder + LatestCheckpoint.METADATA);
        if (metadata.isPresent()) {
          long number =
              savepoints
                  ? -1
                  : Long.parseLong(name.substring(LatestCheckpoint.CHECKPOINT.length()));
          long written = metadata.get().modified().toEpochMilli();
          found.add(new LatestCheckpoint.Found(job + name, written, number));
        }
      }
    }
    return found;
  }

  private static void delete(ObjectStore store, String prefix) throws StoreException {
    List<ObjectInfo> page = store.list(prefix, "", PAGE);
    while (!page.isEmpty()) {
      store.delete(page.stream().map(ObjectInfo::key).toList());
      page = store.list(prefix, "", PAGE);
    }
  }
}
