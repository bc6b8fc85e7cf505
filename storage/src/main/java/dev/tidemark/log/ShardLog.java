package dev.tidemark.log;

import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Decision;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Invariants;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardMachine;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A handle on a shard's log: the known state, reading it on, and the one loop that commits.
 * Thread-safe; commands of one handle are committed one after another.
 *
 * <p>The rules (docs/format.md), each of which keeps something from being lost:
 *
 * <ol>
 *   <li>The known state is always a <em>checked</em> one. After the last answer that it rests on,
 *       and before anything is decided on it, {@code log/closed/<block>} of the first number looked
 *       at was found absent. If it is there, numbers may have been freed and won again: the handle
 *       is stale, forgets what it read, and starts cold.
 *   <li>A fault in what was read (a diff that doesn't fit, bytes that can't be read) counts only
 *       after the check; before it, it may just mean that the handle is stale.
 *   <li>Who won a number is told by the nonce under its key, never by an answer.
 *   <li>A refusal, or "nothing to do", is given only on a state read after the command came.
 * </ol>
 */
public final class ShardLog {
  /** How often a follower that sees nothing new makes the check. */
  private static final long CHECK_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Races that one command may lose before it gives up: each was another's progress. */
  private static final int MOST_RACES = 1000;

  private final ObjectStore store;
  private final Pacing pacing;
  private final LogIntervals intervals;
  private final LogFiles files;
  private final EntryWrite writes;
  private final Rollups rollups;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong lostRaces = new AtomicLong();

  private volatile ShardState known = ShardState.EMPTY;
  private boolean loaded;
  private long checkedAtNanos;

  /** A handle on the shard below the store's prefix. Reaches nothing yet. */
  public ShardLog(ObjectStore store) {
    this(store, Pacing.system());
  }

  /** A handle with its own time and chance. */
  public ShardLog(ObjectStore store, Pacing pacing) {
    this(store, pacing, LogIntervals.FORMAT);
  }

  /** A handle on a simulated shard, whose log may be shorter. */
  public ShardLog(ObjectStore store, Pacing pacing, LogIntervals intervals) {
    this.store = store;
    this.pacing = pacing;
    this.intervals = intervals;
    this.files = new LogFiles(store, pacing, intervals);
    this.writes = new EntryWrite(store, files);
    this.rollups = new Rollups(store, files);
  }

  /** The store below the shard's prefix. */
  public ObjectStore store() {
    return store;
  }

  /**
   * The state as last seen, without asking the store; {@link ShardState#EMPTY} before the first
   * look.
   */
  public ShardState known() {
    return known;
  }

  /**
   * How many versions this handle's commits lost to others so far; each was tried again on what the
   * winner had made. Without the store.
   */
  public long lostRaces() {
    return lostRaces.get();
  }

  /**
   * Reads on to the head.
   *
   * @throws CorruptShardException when the log contradicts itself or what was seen before
   * @throws LogFormatException when an entry can't be read
   */
  public ShardState refresh() throws IOException {
    return refresh(false);
  }

  /**
   * Reads on to the head and makes the check even when nothing new is there: what returns was the
   * head at a moment after the call. For whoever loads after a hold, misses a part or deletes.
   *
   * @throws CorruptShardException as {@link #refresh()}
   */
  public ShardState refreshChecked() throws IOException {
    return refresh(true);
  }

  private ShardState refresh(boolean check) throws IOException {
    lock.lock();
    try {
      readToHead(check);
      return known;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Refresh as need be, decide, compare-and-set, on a lost race again.
   *
   * @throws StoreException when the store can't be reached within its tries; if it is indeterminate
   *     nobody knows whether the command was committed; asking again is safe
   * @throws CorruptShardException as {@link #refresh()}
   */
  public CommitResult commit(Command command, Author by) throws IOException {
    lock.lock();
    try {
      return commitLocked(command, by);
    } finally {
      lock.unlock();
    }
  }

  private CommitResult commitLocked(Command command, Author by) throws IOException {
    boolean current = !loaded;
    if (!loaded) {
      startCold();
    }
    for (int race = 0; race < MOST_RACES; race++) {
      ShardState state = known;
      Decision decision = ShardMachine.decide(state, command);
      if (decision instanceof Decision.Commit commit) {
        if (race > 1) {
          files.backOff(Math.min(race - 1, 3));
        }
        Optional<LogEntry> entry = tryCommit(state, commit.diff(), command, by);
        if (entry.isPresent()) {
          if (known.seqno().value() % intervals.rollup() == 0) {
            rollups.write(known, by, nonce(), now());
          }
          return new CommitResult.Committed(known, entry.get(), commit.admitted());
        }
        current = true; // what stood in the way has been read and checked
      } else if (!current) {
        readToHead(true);
        current = true;
      } else if (decision instanceof Decision.Nothing nothing) {
        return new CommitResult.Nothing(state, nothing.reason());
      } else {
        return new CommitResult.Refused(state, (Decision.Refusal) decision);
      }
    }
    throw new StoreException(
        StoreException.Reason.CONFLICT,
        false,
        store.location() + ": '" + command.name() + "' lost " + MOST_RACES + " races in a row",
        null);
  }

  /** Puts a diff at the next number; empty when it isn't there and the state was read anew. */
  private Optional<LogEntry> tryCommit(ShardState state, Diff diff, Command command, Author by)
      throws IOException {
    ShardState next = state.apply(diff);
    Invariants.checkTransition(state, next);
    LogEntry entry =
        new LogEntry(
            LogCodec.FORMAT, next.shard(), next.seqno(), nonce(), now(), by, command.name(), diff);
    EntryWrite.Outcome outcome = writes.write(entry);
    if (outcome instanceof EntryWrite.Won) {
      if (isOpen(next.seqno())) {
        accept(next);
        return Optional.of(entry);
      }
      startCold();
    } else if (outcome instanceof EntryWrite.Lost lost) {
      lostRaces.incrementAndGet();
      readOn(lost.winner(), true);
    } else {
      startCold();
    }
    return Optional.empty();
  }

  /** The check, after a win: if it can't be made, nobody knows what the win was worth. */
  private boolean isOpen(SeqNo won) throws IOException {
    try {
      return !files.closed(won);
    } catch (StoreException e) {
      throw new StoreException(
          e.reason(),
          true,
          store.location() + ": version " + won + " was written but not checked: " + e.getMessage(),
          e);
    }
  }

  private void readToHead(boolean check) throws IOException {
    if (loaded) {
      readOn(null, check);
    } else {
      startCold();
    }
  }

  /**
   * Reads on from the known state.
   *
   * @param next the bytes of the next entry, null when nobody has read it yet
   * @param always whether the check is made even if nothing new is there
   */
  private void readOn(byte @Nullable [] next, boolean always) throws IOException {
    SeqNo first = known.seqno().next();
    LogReading reading = reading(known);
    if (next == null || reading.step(next)) {
      reading.toTheHead(SeqNo.ZERO);
    }
    boolean news = reading.failed() || !reading.state().seqno().equals(known.seqno());
    if (news || always || pacing.nanoTime() - checkedAtNanos >= CHECK_INTERVAL_NANOS) {
      if (files.closed(first)) {
        startCold();
        return;
      }
      reading.throwFailure();
      accept(reading.state());
    }
  }

  /** Forgets what is known and reads the newest rollup and all after it. */
  private void startCold() throws IOException {
    SeqNo staleAt = null;
    while (true) {
      List<SeqNo> listedRollups = files.rollups();
      SeqNo newest =
          listedRollups.isEmpty() ? SeqNo.ZERO : listedRollups.get(listedRollups.size() - 1);
      ShardState base = rollups.newest(listedRollups);
      List<SeqNo> listed = files.entriesAfter(base.seqno());
      LogReading reading = reading(base);
      reading.toTheHead(listed.isEmpty() ? SeqNo.ZERO : listed.get(listed.size() - 1));
      if (!files.closed(base.seqno().next())) {
        reading.throwFailure();
        replaceKnown(reading.state());
        return;
      }
      if (newest.equals(staleAt)) {
        throw new CorruptShardException(
            store.location()
                + ": the log after version "
                + base.seqno()
                + " has been deleted, but there is no newer rollup that can be read");
      }
      staleAt = newest;
    }
  }

  private LogReading reading(ShardState from) {
    return new LogReading(files, pacing.sideBySide(), from);
  }

  private void replaceKnown(ShardState state) {
    ShardState before = known;
    if (before.exists()) {
      if (!state.exists() || !state.shard().equals(before.shard())) {
        throw new CorruptShardException(
            store.location()
                + ": this is not the shard "
                + before.shard()
                + " that was here before, but "
                + (state.exists() ? "shard " + state.shard() : "no shard")
                + "; start anew to work on it");
      }
      if (state.seqno().compareTo(before.seqno()) < 0) {
        throw new CorruptShardException(
            store.location()
                + ": the log ends at version "
                + state.seqno()
                + ", but version "
                + before.seqno()
                + " was seen here before: it has been set back");
      }
    }
    loaded = true;
    accept(state);
  }

  private void accept(ShardState checked) {
    known = checked;
    checkedAtNanos = pacing.nanoTime();
  }

  private String now() {
    return pacing.now().truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private String nonce() {
    return HexFormat.of().toHexDigits(pacing.random())
        + HexFormat.of().toHexDigits(pacing.random());
  }

  /**
   * The state after one more entry, checked against every rule that a state must keep.
   *
   * @throws CorruptShardException when it breaks one
   */
  public static ShardState replay(ShardState state, LogEntry entry) {
    if (!entry.seqno().equals(state.seqno().next())) {
      throw new CorruptShardException(
          "version " + entry.seqno() + " stands where " + state.seqno().next() + " should be");
    }
    ShardState next;
    try {
      next = state.apply(entry.diff());
    } catch (CorruptShardException e) {
      throw (CorruptShardException)
          new CorruptShardException(
                  "shard "
                      + entry.shard()
                      + ", version "
                      + entry.seqno()
                      + " ("
                      + entry.command()
                      + "): "
                      + e.getMessage())
              .initCause(e);
    }
    if (!next.exists() || !next.shard().equals(entry.shard())) {
      throw new CorruptShardException(
          "version " + entry.seqno() + " is of another shard: " + entry.shard());
    }
    Invariants.checkTransition(state, next);
    return next;
  }

  /** One version's entry; empty when it is not in the log (not yet, or no longer). */
  public Optional<LogEntry> entry(SeqNo seqno) throws IOException {
    Optional<byte[]> bytes = files.get(LogFiles.entryKey(seqno));
    return bytes.isEmpty() ? Optional.empty() : Optional.of(files.decode(bytes.get(), seqno));
  }

  /**
   * The entries from a version on, oldest first, until the first number that is not there.
   *
   * @param most how many at most
   */
  public List<LogEntry> entries(SeqNo from, int most) throws IOException {
    List<LogEntry> entries = new ArrayList<>();
    while (entries.size() < most) {
      SeqNo first = new SeqNo(from.value() + entries.size());
      int count = Math.min(pacing.sideBySide(), most - entries.size());
      for (Optional<byte[]> bytes : files.entries(first, count)) {
        if (bytes.isEmpty()) {
          return entries;
        }
        entries.add(files.decode(bytes.get(), new SeqNo(from.value() + entries.size())));
      }
    }
    return entries;
  }

  /** The oldest version whose entry is still listed; empty without entries. */
  public Optional<SeqNo> oldestEntry() throws IOException {
    return files.oldestEntry();
  }

  /** The versions after {@code after} whose entries are listed, oldest first. */
  public List<SeqNo> entriesListedAfter(SeqNo after) throws IOException {
    return files.entriesAfter(after);
  }

  /** The log's blocks, for whoever collects garbage. Not thread-safe. */
  public LogBlocks blocks() {
    return new LogBlocks(store, files, intervals);
  }

  /** Time and chance as this handle sees them. */
  public Pacing pacing() {
    return pacing;
  }

  /** The versions that have a rollup, oldest first. */
  public List<SeqNo> rollups() throws IOException {
    return files.rollups();
  }

  /**
   * The state that a rollup holds; empty when it isn't there or is damaged.
   *
   * @throws LogFormatException when it is of a newer format
   */
  public Optional<ShardState> rollup(SeqNo seqno) throws IOException {
    return rollups.read(seqno);
  }
}
