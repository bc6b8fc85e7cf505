package dev.tidemark.gc;

import dev.tidemark.shard.SeqNo;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a round of garbage collection did, or would do, and what it left and why.
 *
 * @param seqno the version it went by
 * @param partsDeleted parts that had left
 * @param partBytesDeleted their bytes
 * @param partsKept parts that left not long enough ago, by gc.keep
 * @param partBytesKept their bytes
 * @param held parts that left and are held, by the hold with the smallest seqno, which is the one
 *     that must go first
 * @param heldBytes their bytes
 * @param blocksClosed blocks of the log
 * @param entriesDeleted entries of closed blocks, strays included
 * @param rollupsDeleted rollups older than the second newest
 * @param orphansDeleted parts that nobody ever named
 * @param uploadsDropped large uploads that were begun and never finished
 * @param holdsDeleted holds that ended long ago
 * @param batchesDiscarded batches of a retired shard that made way
 * @param swept the day that was swept, null when none was
 * @param more whether another round has more to do right away
 * @param denied what the store doesn't allow, so that garbage stays; null when all went well
 * @param uploadsDenied why unfinished uploads stay, though all else went well; null when they don't
 */
public record GcReport(
    SeqNo seqno,
    long partsDeleted,
    long partBytesDeleted,
    long partsKept,
    long partBytesKept,
    Map<String, Long> held,
    long heldBytes,
    long blocksClosed,
    long entriesDeleted,
    long rollupsDeleted,
    long orphansDeleted,
    long uploadsDropped,
    long holdsDeleted,
    long batchesDiscarded,
    @Nullable String swept,
    boolean more,
    @Nullable String denied,
    @Nullable String uploadsDenied) {
  /** Copies the map. */
  public GcReport {
    held = Map.copyOf(held);
  }

  /** All that was deleted. */
  public long objectsDeleted() {
    return partsDeleted + entriesDeleted + rollupsDeleted + orphansDeleted + holdsDeleted;
  }

  /** Whether anything was deleted. */
  public boolean didSomething() {
    return objectsDeleted() + uploadsDropped + blocksClosed + batchesDiscarded > 0;
  }

  /** The counts while a round goes on. */
  static final class Tally {
    SeqNo seqno = SeqNo.ZERO;
    long partsDeleted;
    long partBytesDeleted;
    long partsKept;
    long partBytesKept;
    final Map<String, Long> held = new TreeMap<>();
    long heldBytes;
    long blocksClosed;
    long entriesDeleted;
    long rollupsDeleted;
    long orphansDeleted;
    long uploadsDropped;
    long holdsDeleted;
    long batchesDiscarded;
    @Nullable String swept;
    boolean more;
    @Nullable String denied;
    @Nullable String uploadsDenied;

    GcReport report() {
      return new GcReport(
          seqno,
          partsDeleted,
          partBytesDeleted,
          partsKept,
          partBytesKept,
          held,
          heldBytes,
          blocksClosed,
          entriesDeleted,
          rollupsDeleted,
          orphansDeleted,
          uploadsDropped,
          holdsDeleted,
          batchesDiscarded,
          swept,
          more,
          denied,
          uploadsDenied);
    }
  }
}
