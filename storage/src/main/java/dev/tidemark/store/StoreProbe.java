package dev.tidemark.store;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a store for each thing that Tidemark needs of it, with two keys of its own below {@code
 * probe/}: about ten small requests.
 */
final class StoreProbe {
  private static final Logger LOG = LoggerFactory.getLogger(StoreProbe.class);

  private final ObjectStore store;
  private final String folder = "probe/" + UUID.randomUUID() + "/";
  private final String created = folder + "created";
  private final String written = folder + "written";
  private final byte[] first = bytes("first");
  private final byte[] second = bytes("second");

  StoreProbe(ObjectStore store) {
    this.store = store;
  }

  private static byte[] bytes(String word) {
    return (word + " " + UUID.randomUUID()).getBytes(StandardCharsets.UTF_8);
  }

  ProbeReport run() throws StoreException {
    try {
      askMissing(created);
      askConditionalCreate();
      askReadAndList();
    } catch (StoreException | RuntimeException e) {
      try {
        store.delete(List.of(created, written));
      } catch (StoreException | RuntimeException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
    return askDelete();
  }

  private void askMissing(String key) throws StoreException {
    if (store.get(key).isPresent()) {
      throw unsupported("answers a key that nobody wrote: " + key);
    }
  }

  private void askConditionalCreate() throws StoreException {
    // EXISTS can be our own first try, its answer lost: only the bytes tell.
    store.putIfAbsent(created, first);
    if (!Arrays.equals(readBack(created), first)) {
      throw unsupported("does not give back what was written under " + created);
    }
    ObjectStore.Created again = store.putIfAbsent(created, second);
    if (!Arrays.equals(readBack(created), first)) {
      throw unsupported(
          "overwrote an object despite If-None-Match: *; exactly-once is impossible there");
    }
    if (again == ObjectStore.Created.YES) {
      throw unsupported(
          "said yes to creating an object that was there (If-None-Match: *); exactly-once is"
              + " impossible there");
    }
  }

  private void askReadAndList() throws StoreException {
    store.put(written, Body.of(second));
    Optional<byte[]> range = store.getRange(written, 1, second.length - 2);
    if (range.isEmpty()
        || !Arrays.equals(range.get(), Arrays.copyOfRange(second, 1, second.length - 1))) {
      throw unsupported("does not read ranges");
    }
    List<String> keys = store.list(folder, "", 10).stream().map(ObjectInfo::key).toList();
    if (!keys.equals(List.of(created, written))) {
      throw unsupported("lists " + keys + " where " + created + " and " + written + " are");
    }
  }

  private ProbeReport askDelete() throws StoreException {
    try {
      store.delete(List.of(created, written));
    } catch (StoreException e) {
      if (e.reason() != StoreException.Reason.DENIED) {
        throw e;
      }
      String warning = "garbage will stay, nothing can be deleted: " + e.getMessage();
      LOG.warn("{}", warning);
      return new ProbeReport(false, List.of(warning));
    }
    askGone();
    return new ProbeReport(true, List.of());
  }

  private void askGone() throws StoreException {
    if (store.get(created).isPresent() || !store.list(folder, "", 10).isEmpty()) {
      throw unsupported("still shows objects below " + folder + " that were deleted");
    }
  }

  private byte[] readBack(String key) throws StoreException {
    return store
        .get(key)
        .orElseThrow(() -> unsupported("does not show " + key + " just after it was written"));
  }

  private StoreException unsupported(String does) {
    return new StoreException(
        StoreException.Reason.UNSUPPORTED,
        false,
        "the store at " + store.location() + " " + does,
        null);
  }
}
