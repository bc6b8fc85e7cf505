package dev.tidemark.gc;

import dev.tidemark.gc.Departures.Departure;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogBlocks;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The only one who deletes parts, log and rollups. A round goes by a checked state, however old, in
 * this order; each step is right when it comes late, twice, beside another collector's, or is
 * interrupted anywhere, and deletes in any order:
 *
 * <ol>
 *   <li><em>Parts</em> that left in a version, when gc.keep has passed since its entry was written,
 *       by the store's clock, and no hold, listed after the state was checked, knew an earlier
 *       version.
 *   <li><em>Blocks</em> of the log that lie before R, the second newest rollup that reads whole,
 *       and in which nothing left that may still be there: the marker first, then the keys, strays
 *       included.
 *   <li><em>Rollups</em> older than R.
 *   <li><em>Orphans</em>, parts that nobody ever named: of days that the shard's fact {@code swept}
 *       forbids to bring in, listed after that was committed, but for what the state names and what
 *       left and may be held.
 * </ol>
 *
 * <p>A retired shard is emptied beside that, and holds that ended long ago are taken away, as are
 * uploads begun more than gc.orphan-age ago and never finished. A round does a bounded part of what
 * there is; {@link GcReport#more} says whether to go on at once. It remembers what it read of the
 * log from round to round, so keep it. Not thread-safe.
 */
public final class Collector {
  /** Keys in a DELETE, S3's limit. */
  private static final int PAGE = 1000;

  /** Batches of a retired shard that make way in one version, and versions in one round. */
  private static final int DISCARDED_AT_ONCE = 64;

  private static final int DISCARDS_A_ROUND = 16;

  /** Blocks closed in one round. */
  private static final int CLOSED_A_ROUND = 64;

  /** How long to wait after orphans were looked for in vain: that lists all old parts. */
  private static final long LOOK_NANOS = TimeUnit.HOURS.toNanos(1);

  private final ShardLog log;
  private final ObjectStore store;
  private final Author by;
  private final GcSettings settings;
  private final Holds holds;
  private final LogBlocks blocks;
  private final Departures departures;
  private boolean dry;
  private GcReport.Tally tally = new GcReport.Tally();
  private int deletesLeft;
  private @Nullable Long lookedNanos;
  private @Nullable Long askedUploadsNanos;

  /**
   * A collector of one shard.
   *
   * @param by in whose name {@code swept} is committed
   */
  public Collector(ShardLog log, Author by, GcSettings settings) {
    this.log = log;
    this.store = log.store().yielding();
    this.by = by;
    this.settings = settings;
    this.holds = new Holds(log);
    this.blocks = log.blocks();
    this.departures = new Departures(log, blocks);
  }

  /** The holds that it looks at. */
  public Holds holds() {
    return holds;
  }

  /**
   * Does one round.
   *
   * @param maySweep whether orphans may be looked for: not before a restarted job has committed the
   *     batches it was restored with
   * @throws CorruptShardException when the log contradicts itself: nothing more is deleted
   */
  public GcReport collect(boolean maySweep) throws IOException {
    return round(false, maySweep);
  }

  /** What a round would do, judged by the local clock; writes and deletes nothing. */
  public GcReport dryRun() throws IOException {
    try {
      return round(true, true);
    } finally {
      departures.reset(); // nothing of what was forgotten is really gone
    }
  }

  private GcReport round(boolean isDry, boolean maySweep) throws IOException {
    dry = isDry;
    tally = new GcReport.Tally();
    deletesLeft = settings.mostDeletes();
    ShardState state = log.refreshChecked();
    tally.seqno = state.seqno();
    if (!state.exists()) {
      return tally.report();
    }
    departures.readTo(state.seqno(), settings.mostEntries());
    tally.more |= !departures.reach(state.seqno());
    List<Holds.Listed> held = held();
    try {
      deleteParts(state, held);
      deleteLog(state);
      if (maySweep) {
        deleteOrphans(state);
        dropUploads();
      }
      deleteHolds();
      if (state.retired()) {
        discard(held);
      }
    } catch (DeniedException e) {
      tally.denied = e.getMessage();
    }
    return tally.report();
  }

  private Instant now() throws StoreException {
    return dry ? log.pacing().now() : holds.clock().passed();
  }

  private List<Holds.Listed> held() throws IOException {
    if (!dry) {
      return holds.live();
    }
    Instant now = now();
    return holds.list().stream().filter(listed -> !now.isAfter(listed.expires())).toList();
  }

  // ---- Deleting

  /** The store doesn't let us delete: to be told loudly, but no reason for a job to stop. */
  private static final class DeniedException extends IOException {
    private static final long serialVersionUID = 1L;

    DeniedException(StoreException cause) {
      super(cause.getMessage(), cause);
    }
  }

  private void delete(List<String> keys) throws IOException {
    for (int from = 0; from < keys.size(); from += PAGE) {
      List<String> page = keys.subList(from, Math.min(keys.size(), from + PAGE));
      if (!dry) {
        try {
          store.delete(page);
        } catch (StoreException e) {
          if (e.reason() == StoreException.Reason.DENIED) {
            throw new DeniedException(e);
          }
          throw e;
        }
      }
      deletesLeft -= page.size();
    }
  }

  // ---- 1: parts

  private void deleteParts(ShardState state, List<Holds.Listed> held) throws IOException {
    if (departures.pending().isEmpty()) {
      return;
    }
    Instant kept = now().minus(settings.keep());
    Holds.@Nullable Listed oldest = oldest(held);
    List<Departure> going = new ArrayList<>();
    long parts = 0;
    for (Departure departure : List.copyOf(departures.pending())) {
      int count = departure.parts().size();
      if (oldest != null && oldest.hold().seqno().compareTo(departure.seqno()) < 0) {
        tally.held.merge(oldest.id(), (long) count, Long::sum);
        tally.heldBytes += departure.bytes();
      } else if (!departure.at().isBefore(kept)) {
        tally.partsKept += count;
        tally.partBytesKept += departure.bytes();
      } else if (parts > 0 && parts + count > deletesLeft) {
        tally.more = true;
      } else {
        parts += count;
        going.add(departure);
      }
    }
    delete(state, going);
  }

  private static Holds.@Nullable Listed oldest(List<Holds.Listed> held) {
    Holds.@Nullable Listed oldest = null;
    for (Holds.Listed listed : held) {
      if (oldest == null || listed.hold().seqno().compareTo(oldest.hold().seqno()) < 0) {
        oldest = listed;
      }
    }
    return oldest;
  }

  private void delete(ShardState state, List<Departure> going) throws IOException {
    if (going.isEmpty()) {
      return;
    }
    Map<String, Long> named = named(state);
    List<String> keys = new ArrayList<>();
    for (Departure departure : going) {
      for (String key : departure.parts().keySet()) {
        if (named.containsKey(key)) {
          throw new CorruptShardException(
              state + ": part " + key + " left in version " + departure.seqno() + " and is back");
        }
        keys.add(key);
      }
    }
    delete(keys);
    for (Departure departure : going) {
      tally.partsDeleted += departure.parts().size();
      tally.partBytesDeleted += departure.bytes();
      departures.forget(departure.seqno());
    }
  }

  private static Map<String, Long> named(ShardState state) {
    Map<String, Long> named = new HashMap<>();
    for (Batch batch : state.batches()) {
      Departures.addParts(named, batch);
    }
    return named;
  }

  // ---- 2 and 3: blocks, rollups

  private void deleteLog(ShardState state) throws IOException {
    List<SeqNo> listed =
        log.rollups().stream().filter(seqno -> seqno.compareTo(state.seqno()) <= 0).toList();
    Optional<SeqNo> second = secondNewest(listed);
    if (second.isPresent()) {
      closeBlocks(second.get());
    }
    // Also without a rollup: another may have closed blocks and been interrupted.
    blocks.firstOpen();
    List<String> leftovers = blocks.leftovers(Math.max(1, deletesLeft));
    delete(leftovers);
    tally.entriesDeleted += leftovers.size();
    tally.more |= deletesLeft <= 0;
    if (second.isPresent()) {
      List<String> old =
          listed.stream()
              .filter(seqno -> seqno.compareTo(second.get()) < 0)
              .map(LogBlocks::rollupKey)
              .toList();
      delete(old);
      tally.rollupsDeleted += old.size();
    }
  }

  /** The newest but one of the rollups, or the next older that reads whole. */
  private Optional<SeqNo> secondNewest(List<SeqNo> listed) throws IOException {
    for (int i = listed.size() - 2; i >= 0; i--) {
      if (log.rollup(listed.get(i)).isPresent()) {
        return Optional.of(listed.get(i));
      }
    }
    return Optional.empty();
  }

  private void closeBlocks(SeqNo rollup) throws IOException {
    long block = blocks.firstOpen();
    for (int closed = 0; ; closed++, block++) {
      SeqNo last = blocks.last(block);
      if (last.compareTo(rollup) > 0 || !departures.reach(last) || departures.anyUpTo(last)) {
        return;
      }
      if (closed == CLOSED_A_ROUND) {
        tally.more = true;
        return;
      }
      if (!dry) {
        blocks.close(block);
      }
      tally.blocksClosed++;
    }
  }

  // ---- 4: orphans

  private void deleteOrphans(ShardState state) throws IOException {
    if (!departures.reach(state.seqno()) || lookedJustNow()) {
      return; // what left is not known yet; or nothing was there
    }
    // A day is over that long only when its last moment is.
    Instant old = now().minus(settings.orphanAge());
    String day = old.atOffset(ZoneOffset.UTC).toLocalDate().minusDays(1).toString();
    if (orphans(state, day, 1).isEmpty()) {
      lookedNanos = log.pacing().nanoTime();
      return;
    }
    if (dry) {
      tally.orphansDeleted = orphans(state, day, Integer.MAX_VALUE).size();
      tally.swept = day;
      return;
    }
    CommitResult swept = log.commit(new Command.Sweep(day), by);
    if (swept instanceof CommitResult.Refused refused) {
      throw new IOException(store.location() + ": no sweep: " + refused.refusal().message());
    }
    ShardState after = swept.state();
    departures.readTo(after.seqno(), settings.mostEntries());
    if (!departures.reach(after.seqno())) {
      tally.more = true;
      return;
    }
    if (swept instanceof CommitResult.Committed) {
      tally.swept = day;
    }
    List<String> going = orphans(after, day, Math.max(1, deletesLeft));
    delete(going);
    tally.orphansDeleted += going.size();
    tally.more |= deletesLeft <= 0;
  }

  private boolean lookedJustNow() {
    return lookedNanos != null && log.pacing().nanoTime() - lookedNanos < LOOK_NANOS;
  }

  /** The parts of days up to one that a state doesn't name and that didn't leave it either. */
  private List<String> orphans(ShardState state, String upto, int most) throws IOException {
    Map<String, Long> named = named(state);
    Set<String> left = departures.keys();
    List<String> orphans = new ArrayList<>();
    for (String folder : store.listFolders("part/")) {
      String day = folder.substring(0, folder.length() - 1);
      if (isDay(day) && day.compareTo(upto) <= 0) {
        for (ObjectInfo object : Listings.all(store, "part/" + folder)) {
          boolean orphan = !named.containsKey(object.key()) && !left.contains(object.key());
          if (orphan && orphans.size() < most) {
            orphans.add(object.key());
          }
        }
      }
      if (orphans.size() == most) {
        return orphans;
      }
    }
    return orphans;
  }

  /** Uploads that nobody finishes any more; the store's own clock dates both sides. */
  private void dropUploads() throws IOException {
    long nanos = log.pacing().nanoTime();
    if (dry || (askedUploadsNanos != null && nanos - askedUploadsNanos < LOOK_NANOS)) {
      return;
    }
    Instant old = now().minus(settings.orphanAge());
    try {
      int dropped = store.dropUploads("part/", old, PAGE);
      tally.uploadsDropped += dropped;
      tally.more |= dropped == PAGE;
      if (dropped < PAGE) {
        askedUploadsNanos = nanos;
      }
    } catch (StoreException e) {
      if (e.reason() != StoreException.Reason.DENIED) {
        throw e;
      }
      askedUploadsNanos = nanos;
      tally.uploadsDenied = e.getMessage();
    }
  }

  private static boolean isDay(String text) {
    try {
      return LocalDate.parse(text).toString().equals(text);
    } catch (DateTimeException e) {
      return false;
    }
  }

  // ---- Beside

  private void deleteHolds() throws IOException {
    if (dry) {
      return;
    }
    List<String> old = holds.leftovers(Math.max(1, deletesLeft));
    delete(old);
    tally.holdsDeleted += old.size();
  }

  /** That the shard is retired is durable, in a checked state; the holds were listed after it. */
  private void discard(List<Holds.Listed> held) throws IOException {
    if (!held.isEmpty() || dry) {
      return;
    }
    for (int done = 0; done < DISCARDS_A_ROUND; done++) {
      int before = log.known().batches().size();
      String id = String.format("empty-%016x", log.pacing().random());
      CommitResult result = log.commit(new Command.Discard(id, DISCARDED_AT_ONCE), by);
      if (!(result instanceof CommitResult.Committed)) {
        return;
      }
      tally.batchesDiscarded += Math.max(1, before - result.state().batches().size());
    }
    tally.more = true;
  }
}
