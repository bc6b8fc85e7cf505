package dev.tidemark.sim;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.LogIntervals;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Deletes garbage by the letter of the protocol, in the plainest way: parts, blocks, rollups,
 * orphans, in this order, all of it from one checked state. The real one works beside it.
 */
final class LetterCollector extends Participant {
  private static final int MOST = 100_000;

  private final LogIntervals intervals;
  private final Holds holds;

  /** Parts that left, by the version in which they did. */
  private record Leaving(long seqno, long atMillis, Set<String> parts) {}

  LetterCollector(Host host) {
    super(host);
    this.holds = new Holds(log);
    this.intervals = host.world().settings().intervals();
  }

  /** Takes more requests a turn than others, so it comes less often. */
  @Override
  void rest() {
    host.rest();
    host.await(4 * host.world().settings().pauseMillis());
  }

  @Override
  void turn() throws IOException {
    ShardState state = refreshChecked();
    if (!state.exists()) {
      return;
    }
    List<ObjectInfo> listed = host.store().list("log/", "", MOST);
    long open = firstOpenBlock();
    Optional<List<Leaving>> leavings = leavings(state, listed, open);
    if (leavings.isEmpty()) {
      host.tell(() -> "is behind");
      return;
    }
    deleteParts(state, leavings.get());
    deleteLog(state, listed, leavings.get(), open);
    maybeSweep();
    if (state.retired()) {
      discard();
    }
  }

  /** The block after the last one that is closed. */
  private long firstOpenBlock() throws IOException {
    List<ObjectInfo> markers = host.store().list("log/closed/", "", MOST);
    return markers.isEmpty() ? 0 : Truth.number(markers.get(markers.size() - 1).key()) + 1;
  }

  private long block(long seqno) {
    return seqno / intervals.block();
  }

  private static boolean isEntry(ObjectInfo object) {
    return !object.key().startsWith("log/closed/");
  }

  /** What left in the versions from the first open block to the state; empty when it was closed. */
  private Optional<List<Leaving>> leavings(ShardState state, List<ObjectInfo> listed, long open)
      throws IOException {
    List<Leaving> leavings = new ArrayList<>();
    for (ObjectInfo object : listed) {
      if (!isEntry(object)) {
        continue;
      }
      long seqno = Truth.number(object.key());
      if (block(seqno) < open || seqno > state.seqno().value()) {
        continue;
      }
      Optional<LogEntry> entry = log.entry(new SeqNo(seqno));
      if (entry.isEmpty()) {
        return Optional.empty();
      }
      leavings.add(new Leaving(seqno, object.modified().toEpochMilli(), left(entry.get())));
    }
    boolean closed = host.store().get(String.format("log/closed/%010d.json", open)).isPresent();
    return closed ? Optional.empty() : Optional.of(leavings);
  }

  private static Set<String> left(LogEntry entry) {
    Set<String> left = new HashSet<>(Parts.keys(batches(entry.diff().remove())));
    left.removeAll(Parts.keys(batches(entry.diff().add())));
    return left;
  }

  private static List<Batch> batches(List<Fact> facts) {
    List<Batch> batches = new ArrayList<>();
    for (Fact fact : facts) {
      if (fact instanceof Fact.BatchFact batch) {
        batches.add(batch.batch());
      }
    }
    return batches;
  }

  private Set<String> listedParts() throws IOException {
    Set<String> parts = new HashSet<>();
    host.store().list("part/", "", MOST).forEach(object -> parts.add(object.key()));
    return parts;
  }

  private void deleteParts(ShardState state, List<Leaving> leavings) throws IOException {
    long now = holds.clock().passed().toEpochMilli();
    long keep = host.world().keepMillis();
    long held = Long.MAX_VALUE;
    for (Holds.Listed listed : holds.live()) {
      held = Math.min(held, listed.hold().seqno().value());
    }
    Set<String> there = listedParts();
    Set<String> named = new HashSet<>(Parts.keys(state.batches()));
    List<String> gone = new ArrayList<>();
    for (Leaving leaving : leavings) {
      if (leaving.atMillis() + keep <= now && held >= leaving.seqno()) {
        for (String part : leaving.parts()) {
          if (there.contains(part) && !named.contains(part)) {
            gone.add(part);
          }
        }
      }
    }
    gone.sort(null);
    if (!gone.isEmpty()) {
      host.store().delete(gone);
    }
  }

  private void deleteLog(
      ShardState state, List<ObjectInfo> listed, List<Leaving> leavings, long open)
      throws IOException {
    boolean newestOnly = host.world().mutant() == Mutant.NEWEST_ROLLUP_ONLY;
    long rollup = rollup(state, newestOnly);
    if (rollup <= 0) {
      return;
    }
    SortedMap<Long, List<String>> keys = new TreeMap<>();
    for (ObjectInfo object : listed) {
      if (isEntry(object)) {
        long block = block(Truth.number(object.key()));
        keys.computeIfAbsent(block, b -> new ArrayList<>()).add(object.key());
      }
    }
    Set<String> there = listedParts();
    for (long block : List.copyOf(keys.keySet())) {
      long last = newestOnly ? block * intervals.block() : (block + 1) * intervals.block() - 1;
      if (block >= open) {
        boolean waits =
            leavings.stream()
                .filter(leaving -> block(leaving.seqno()) == block)
                .anyMatch(leaving -> leaving.parts().stream().anyMatch(there::contains));
        if (last > rollup || waits) {
          break;
        }
        close(block);
      }
      host.store().delete(keys.get(block));
    }
    List<String> old = new ArrayList<>();
    for (SeqNo seqno : log.rollups()) {
      if (seqno.value() < rollup) {
        old.add(String.format("rollup/%020d.json", seqno.value()));
      }
    }
    if (!old.isEmpty()) {
      host.store().delete(old);
    }
  }

  /** The rollup that the log is deleted up to, negative when there is none. */
  private long rollup(ShardState state, boolean newestOnly) throws IOException {
    if (host.world().mutant() == Mutant.ROLLUP_NOT_READ) {
      return state.seqno().value() / intervals.rollup() * intervals.rollup();
    }
    List<SeqNo> readable = readableRollups();
    if (readable.size() < (newestOnly ? 1 : 2)) {
      return -1;
    }
    // What came after the state is not for us to judge, however new the rollups.
    return Math.min(state.seqno().value(), readable.get(newestOnly ? 0 : 1).value());
  }

  /**
   * Orphans: first it is made durable that no part of these days can come in any more, then the
   * days are listed; what that state names stays, and what left the log's versions has its own
   * time.
   */
  private void maybeSweep() throws IOException {
    long past = holds.clock().passed().toEpochMilli() - host.world().settings().orphanMillis();
    host.store().dropUploads("part/", Instant.ofEpochMilli(past), MOST);
    String day = Instant.ofEpochMilli(past).atOffset(ZoneOffset.UTC).toLocalDate().toString();
    ShardState state = log.known();
    List<String> candidates = sweepable(state, day, List.of());
    if (candidates.isEmpty()) {
      return;
    }
    if (host.world().mutant() != Mutant.SWEEP_NOT_ANNOUNCED) {
      CommitResult result = commit(new Command.Sweep(day), "gc");
      state = result.state();
    }
    List<ObjectInfo> listed = host.store().list("log/", "", MOST);
    Optional<List<Leaving>> leavings = leavings(state, listed, firstOpenBlock());
    if (leavings.isPresent()) {
      List<String> orphans = sweepable(state, day, leavings.get());
      if (!orphans.isEmpty()) {
        host.store().delete(orphans);
      }
    }
  }

  private List<String> sweepable(ShardState state, String day, List<Leaving> leavings)
      throws IOException {
    Set<String> kept = new HashSet<>(Parts.keys(state.batches()));
    if (host.world().mutant() != Mutant.SWEEP_TAKES_ALL) {
      leavings.forEach(leaving -> kept.addAll(leaving.parts()));
    }
    List<String> orphans = new ArrayList<>();
    for (String part : listedParts()) {
      boolean old = part.substring("part/".length()).compareTo(day + "0") < 0;
      if (old && !kept.contains(part)) {
        orphans.add(part);
      }
    }
    orphans.sort(null);
    return orphans;
  }

  /** A retired shard is emptied in small steps, none past a hold. */
  private void discard() throws IOException {
    if (holds.live().isEmpty()) {
      commit(new Command.Discard(host.freshName(), 2 + host.chance().below(3)), "gc");
    }
  }

  /** The newest two rollups that can be read whole, newest first. */
  private List<SeqNo> readableRollups() throws IOException {
    List<SeqNo> rollups = log.rollups();
    List<SeqNo> readable = new ArrayList<>();
    for (int i = rollups.size() - 1; i >= 0 && readable.size() < 2; i--) {
      if (log.rollup(rollups.get(i)).isPresent()) {
        readable.add(rollups.get(i));
      }
    }
    return readable;
  }

  /** Nothing of a block goes before its marker is known to be there. */
  private void close(long block) throws IOException {
    String key = String.format("log/closed/%010d.json", block);
    for (int tried = 1; ; tried++) {
      try {
        host.store().putIfAbsent(key, "{}".getBytes(StandardCharsets.UTF_8));
        return;
      } catch (StoreException e) {
        if (host.world().mutant() == Mutant.MARKER_UNCLEAR) {
          return;
        }
        if (tried == 4) {
          throw e;
        }
      }
      host.await(1_000L * tried);
    }
  }
}
