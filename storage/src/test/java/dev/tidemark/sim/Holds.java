package dev.tidemark.sim;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.store.Body;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reading other actors' holds, by the store's clock, of which a listing shows only the past. */
final class Holds {
  private static final int MOST = 1000;

  private Holds() {}

  /** A time that the store's clock has passed, from what lies about. */
  static long seenNow(Host host) throws IOException {
    long seen = newest(host.store().list("log/", "", MOST));
    return Math.max(seen, newest(host.store().list("hold/", "", MOST)));
  }

  /** The store's time, asked by writing something. */
  static long now(Host host) throws IOException {
    ObjectStore store = host.store();
    String key = "clock/" + host.name();
    store.put(key, Body.of(new byte[] {1}));
    return newest(store.list(key, "", 1));
  }

  private static long newest(List<ObjectInfo> objects) {
    long newest = 0;
    for (ObjectInfo object : objects) {
      newest = Math.max(newest, object.modified().toEpochMilli());
    }
    return newest;
  }

  /** The holds that may be live at a time that has passed. */
  static List<Hold> live(Host host, long nowMillis) throws IOException {
    List<Hold> holds = new ArrayList<>();
    for (ObjectInfo object : host.store().list("hold/", "", MOST)) {
      if (nowMillis < object.modified().toEpochMilli() + Hold.EXPIRY_MILLIS) {
        Optional<byte[]> bytes = host.store().get(object.key());
        bytes.ifPresent(found -> holds.add(Hold.decode(found)));
      }
    }
    return holds;
  }

  /** The oldest time that any of them needs. */
  static Frontier least(List<Hold> holds) {
    Frontier least = Frontier.END;
    for (Hold hold : holds) {
      least = least.min(hold.since());
    }
    return least;
  }

  /** The oldest version that any of them knew. */
  static SeqNo oldest(List<Hold> holds) {
    SeqNo oldest = new SeqNo(Long.MAX_VALUE);
    for (Hold hold : holds) {
      oldest = hold.seqno().compareTo(oldest) < 0 ? hold.seqno() : oldest;
    }
    return oldest;
  }
}
