package dev.tidemark.gc;

import dev.tidemark.log.LogBlocks;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The parts that left the shard and may still be there: read from the log, entry by entry, from the
 * first open block on. What left in a closed block is gone. Not thread-safe.
 */
final class Departures {
  /** Entries read at a time. */
  private static final int PAGE = 256;

  private final ShardLog log;
  private final LogBlocks blocks;
  private final NavigableMap<SeqNo, Departure> pending = new TreeMap<>();
  private SeqNo next = new SeqNo(1);

  /**
   * What left in a version.
   *
   * @param seqno the version
   * @param at the store's time of its entry
   * @param parts the keys, and the objects' lengths
   */
  record Departure(SeqNo seqno, Instant at, Map<String, Long> parts) {
    long bytes() {
      return parts.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  Departures(ShardLog log, LogBlocks blocks) {
    this.log = log;
    this.blocks = blocks;
  }

  /** What left and wasn't {@link #forget forgotten}, oldest first. */
  Collection<Departure> pending() {
    return pending.values();
  }

  /** Whether all that left up to a version is known. */
  boolean reach(SeqNo upto) {
    return next.compareTo(upto) > 0;
  }

  /** Whether something that left up to a version may still be there. */
  boolean anyUpTo(SeqNo upto) {
    return !pending.isEmpty() && pending.firstKey().compareTo(upto) <= 0;
  }

  /** The parts are certainly gone. */
  void forget(SeqNo seqno) {
    pending.remove(seqno);
  }

  /** Begins anew: what was read and forgotten is read again. */
  void reset() {
    pending.clear();
    next = new SeqNo(1);
  }

  /** All keys that left and may still be there. */
  Set<String> keys() {
    Set<String> keys = new HashSet<>();
    pending.values().forEach(departure -> keys.addAll(departure.parts().keySet()));
    return keys;
  }

  /**
   * Reads on to a version of a checked state, at most {@code most} entries. The check is made once
   * more after reading: if the block of the first entry looked at has been closed meanwhile, what
   * was read may not be history, and reading goes on behind the closed blocks.
   *
   * @return how many entries were read
   */
  int readTo(SeqNo upto, int most) throws IOException {
    skipClosed();
    int read = 0;
    while (next.compareTo(upto) <= 0 && read < most) {
      SeqNo first = next;
      long left = upto.value() - first.value() + 1;
      int wanted = (int) Math.min(Math.min(PAGE, most - read), left);
      Map<SeqNo, Instant> times = times(first, wanted);
      List<LogEntry> entries;
      try {
        entries = log.entries(first, wanted);
      } catch (LogFormatException e) {
        if (!blocks.closed(first)) {
          throw e;
        }
        entries = List.of();
      }
      if (blocks.closed(first)) {
        skipClosed();
        continue;
      }
      for (LogEntry entry : entries) {
        note(entry, times);
      }
      next = new SeqNo(first.value() + entries.size());
      read += entries.size();
      if (entries.size() < wanted) {
        throw new CorruptShardException(
            log.store().location() + ": version " + next + " is missing from the log");
      }
    }
    return read;
  }

  /** What left in closed blocks is gone: whoever closed them made sure. */
  private void skipClosed() throws IOException {
    SeqNo open = blocks.first(blocks.firstOpen());
    if (next.compareTo(open) < 0) {
      next = open;
    }
    pending.headMap(open).clear();
  }

  private Map<SeqNo, Instant> times(SeqNo first, int count) throws IOException {
    Map<SeqNo, Instant> times = new LinkedHashMap<>();
    for (LogBlocks.Listed listed : blocks.listedAfter(new SeqNo(first.value() - 1), count)) {
      times.put(listed.seqno(), listed.modified());
    }
    return times;
  }

  private void note(LogEntry entry, Map<SeqNo, Instant> times) throws IOException {
    Map<String, Long> left = parts(entry.diff().remove());
    left.keySet().removeAll(parts(entry.diff().add()).keySet());
    if (left.isEmpty()) {
      return;
    }
    Instant at = times.get(entry.seqno());
    if (at == null) {
      throw new IOException(
          log.store().location()
              + ": version "
              + entry.seqno()
              + " could be read but isn't listed");
    }
    pending.put(entry.seqno(), new Departure(entry.seqno(), at, left));
  }

  /** The stored parts that batches among some facts name, with their lengths. */
  static Map<String, Long> parts(List<Fact> facts) {
    Map<String, Long> parts = new LinkedHashMap<>();
    for (Fact fact : facts) {
      if (fact instanceof Fact.BatchFact batch) {
        addParts(parts, batch.batch());
      }
    }
    return parts;
  }

  static void addParts(Map<String, Long> parts, Batch batch) {
    batch.runs().forEach(run -> addParts(parts, run));
    addParts(parts, batch.errors());
  }

  private static void addParts(Map<String, Long> parts, List<Part> some) {
    for (Part part : some) {
      if (part.location() instanceof PartLocation.Stored stored) {
        parts.put(stored.key(), stored.sizeBytes());
      }
    }
  }
}
