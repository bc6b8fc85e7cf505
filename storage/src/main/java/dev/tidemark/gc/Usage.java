package dev.tidemark.gc;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.ObjectInfo;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What lies below a shard's prefix, by kind: each object counts in exactly one.
 *
 * @param state the version it goes by
 * @param live parts that the shard names
 * @param held parts that left and that some hold keeps
 * @param garbage parts that left and wait for gc.keep or the next round
 * @param orphans parts that the log doesn't know: not committed yet, or never
 * @param rollups rollups
 * @param log entries and markers
 * @param holdObjects holds
 * @param other what is none of these
 * @param holders for each hold that may be live, the parts that it keeps, alone or with others
 */
public record Usage(
    ShardState state,
    Size live,
    Size held,
    Size garbage,
    Size orphans,
    Size rollups,
    Size log,
    Size holdObjects,
    Size other,
    List<Holder> holders) {
  /** Copies the list. */
  public Usage {
    holders = List.copyOf(holders);
  }

  /** How much. */
  public record Size(long objects, long bytes) {
    static final Size NONE = new Size(0, 0);

    Size plus(long more) {
      return new Size(objects + 1, bytes + more);
    }
  }

  /** Who keeps how much. */
  public record Holder(Holds.Listed hold, Size keeps) {}

  private enum Kind {
    LIVE,
    HELD,
    GARBAGE,
    ORPHAN,
    ROLLUP,
    LOG,
    HOLD,
    OTHER
  }

  /** All bytes. */
  public long bytes() {
    return live.bytes
        + held.bytes
        + garbage.bytes
        + orphans.bytes
        + rollups.bytes
        + log.bytes
        + holdObjects.bytes
        + other.bytes;
  }

  /**
   * Looks at a shard; writes nothing, and goes by the local clock for which holds are live.
   *
   * @throws IOException also when there is no shard
   */
  public static Usage of(ShardLog log) throws IOException {
    ShardState state = log.refreshChecked();
    if (!state.exists()) {
      throw new IOException(log.store().location() + ": there is no shard here");
    }
    Departures departures = new Departures(log, log.blocks());
    departures.readTo(state.seqno(), Integer.MAX_VALUE);
    Instant now = log.pacing().now();
    List<Holds.Listed> holds =
        new Holds(log).list().stream().filter(hold -> !now.isAfter(hold.expires())).toList();
    Map<String, SeqNo> left = new HashMap<>();
    for (Departures.Departure departure : departures.pending()) {
      departure.parts().keySet().forEach(key -> left.put(key, departure.seqno()));
    }
    Map<String, Long> named = new HashMap<>();
    for (Batch batch : state.batches()) {
      Departures.addParts(named, batch);
    }
    Map<Kind, Size> sizes = new TreeMap<>();
    Map<String, Size> keeps = new HashMap<>();
    for (ObjectInfo object : Listings.all(log.store(), "")) {
      SeqNo leftAt = left.get(object.key());
      boolean held = false;
      for (Holds.Listed hold : holds) {
        if (leftAt != null && hold.hold().seqno().compareTo(leftAt) < 0) {
          held = true;
          keeps.merge(hold.id(), Size.NONE.plus(object.sizeBytes()), Usage::sum);
        }
      }
      Kind kind = held ? Kind.HELD : kind(object.key(), named, leftAt != null);
      sizes.merge(kind, Size.NONE.plus(object.sizeBytes()), Usage::sum);
    }
    return new Usage(
        state,
        sizes.getOrDefault(Kind.LIVE, Size.NONE),
        sizes.getOrDefault(Kind.HELD, Size.NONE),
        sizes.getOrDefault(Kind.GARBAGE, Size.NONE),
        sizes.getOrDefault(Kind.ORPHAN, Size.NONE),
        sizes.getOrDefault(Kind.ROLLUP, Size.NONE),
        sizes.getOrDefault(Kind.LOG, Size.NONE),
        sizes.getOrDefault(Kind.HOLD, Size.NONE),
        sizes.getOrDefault(Kind.OTHER, Size.NONE),
        holds.stream()
            .map(hold -> new Holder(hold, keeps.getOrDefault(hold.id(), Size.NONE)))
            .toList());
  }

  private static Size sum(Size one, Size other) {
    return new Size(one.objects + other.objects, one.bytes + other.bytes);
  }

  private static Kind kind(String key, Map<String, Long> named, boolean left) {
    if (key.startsWith("part/")) {
      return named.containsKey(key) ? Kind.LIVE : left ? Kind.GARBAGE : Kind.ORPHAN;
    }
    if (key.startsWith("log/")) {
      return Kind.LOG;
    }
    if (key.startsWith("rollup/")) {
      return Kind.ROLLUP;
    }
    return key.startsWith("hold/") ? Kind.HOLD : Kind.OTHER;
  }
}
