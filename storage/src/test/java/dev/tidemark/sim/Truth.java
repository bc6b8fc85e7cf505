package dev.tidemark.sim;

import dev.tidemark.log.LogCodec;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.LogIntervals;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.Invariants;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What truly happened: the first entry that was ever created under each number, and every
 * invariant, checked at the moment an object changes. Nothing here asks the code under test what it
 * knows; only the facts' own form and their rules are taken from it.
 */
final class Truth implements Bucket.Watcher {
  /** All contents are added up anew every so many versions. */
  private static final long AUDIT_INTERVAL = 5;

  private record Left(SeqNo at, long atMillis) {}

  private final Bucket bucket;
  private final LogIntervals intervals;
  private final long keepMillis;
  private final long orphanMillis;
  private final LongSupplier clockMillis;
  private final Model model = new Model();
  private final ErrorLedger errors;
  private final HoldWatch holds;
  private final List<LogEntry> entries = new ArrayList<>();
  private final List<ShardState> states = new ArrayList<>(List.of(ShardState.EMPTY));
  private final Map<String, Left> left = new HashMap<>();
  private final Set<String> live = new HashSet<>();
  private final Set<String> appended = new HashSet<>();
  private final Set<String> refused = new HashSet<>();
  private final SortedMap<String, Long> counts = new TreeMap<>();
  private final Chance chance;
  private long deletedUpTo;

  Truth(LongSupplier clockMillis, Settings settings, Chance chance) {
    this.bucket = new Bucket(clockMillis, this);
    this.clockMillis = clockMillis;
    this.intervals = settings.intervals();
    this.keepMillis = settings.keepMillis();
    this.orphanMillis = settings.orphanMillis();
    this.errors = new ErrorLedger(settings.errors());
    this.holds = new HoldWatch(clockMillis);
    this.chance = chance;
  }

  Bucket bucket() {
    return bucket;
  }

  Model model() {
    return model;
  }

  ErrorLedger errors() {
    return errors;
  }

  HoldWatch holds() {
    return holds;
  }

  /** The state at the true head. */
  ShardState head() {
    return states.get(states.size() - 1);
  }

  /** How often each command was committed, and how often a freed number was taken again. */
  SortedMap<String, Long> counts() {
    return counts;
  }

  // ---- What objects do

  @Override
  public void created(String key, byte[] bytes) {
    if (key.startsWith("log/closed/")) {
      return;
    }
    if (key.startsWith("log/")) {
      entryCreated(key, bytes);
    } else if (key.startsWith("rollup/")) {
      rollupCreated(key, bytes);
    } else if (key.startsWith("hold/")) {
      holds.written(key, bytes, head().seqno(), since());
    }
  }

  private Frontier since() {
    return head().exists() ? head().since() : Frontier.MINIMUM;
  }

  @Override
  public void overwritten(String key, byte[] before, byte[] bytes) {
    if (key.startsWith("hold/")) {
      holds.written(key, bytes, head().seqno(), since());
    } else if (key.startsWith("log/") || key.startsWith("rollup/")) {
      throw new ViolationError("I2", key + " is overwritten");
    } else if (key.startsWith("part/") && !Arrays.equals(before, bytes)) {
      throw new ViolationError("I3", key + " gets other contents");
    }
  }

  @Override
  public void deleting(String key) {
    if (key.startsWith("part/")) {
      partDeleted(key);
    } else if (key.startsWith("log/closed/")) {
      throw new ViolationError("I2", key + " is deleted");
    } else if (key.startsWith("log/")) {
      entryDeleted(key);
    } else if (key.startsWith("rollup/")) {
      rollupDeleted(key);
    } else if (key.startsWith("hold/")) {
      holds.deleted(key);
    }
  }

  @Override
  public void dropping(String key, long begunMillis) {
    long age = clockMillis.getAsLong() - begunMillis;
    if (age < orphanMillis) {
      throw new ViolationError("I3", "the upload of " + key + " is given up after " + age + " ms");
    }
    counts.merge("uploads dropped", 1L, Long::sum);
  }

  static long number(String key) {
    return Long.parseLong(key.substring(key.lastIndexOf('/') + 1, key.lastIndexOf('.')));
  }

  private boolean isClosed(long number) {
    return bucket.has(String.format("log/closed/%010d.json", number / intervals.block()));
  }

  private LogEntry decode(String key, byte[] bytes) {
    try {
      return LogCodec.decode(bytes, key);
    } catch (LogFormatException e) {
      throw new ViolationError("I2", key + " can't be read", e);
    }
  }

  private void entryCreated(String key, byte[] bytes) {
    long number = number(key);
    LogEntry entry = decode(key, bytes);
    long next = head().seqno().value() + 1;
    if (number > next) {
      throw new ViolationError("I2", "version " + number + " where " + next + " comes next");
    }
    if (isClosed(number) != (number < next)) {
      throw new ViolationError(
          "I2",
          number < next
              ? "version " + number + " is won twice, though its block isn't closed"
              : "version " + number + " is new, but its block is closed");
    }
    if (number < next) {
      counts.merge("strays", 1L, Long::sum);
    } else {
      advance(entry);
    }
  }

  private void advance(LogEntry entry) {
    ShardState before = head();
    ShardState after;
    try {
      after = before.apply(entry.diff());
      Invariants.checkTransition(before, after);
      Invariants.check(after);
    } catch (CorruptShardException e) {
      throw new ViolationError("I2", "version " + entry.seqno() + " doesn't fit", e);
    }
    if (entry.command().equals("append")) {
      appendHappened(before, after, entry);
    }
    entries.add(entry);
    states.add(after);
    counts.merge("commit " + entry.command(), 1L, Long::sum);
    Map<String, Batch> old = new LinkedHashMap<>();
    before.batches().forEach(batch -> old.put(batch.id(), batch));
    List<Batch> came = new ArrayList<>();
    for (Batch batch : after.batches()) {
      Batch was = old.remove(batch.id());
      if (was == null) {
        batchCame(batch, entry);
        came.add(batch);
      } else if (!was.equals(batch)) {
        model.check(batch, rows(batch));
        errors.checkStays(batch, errorRows(batch));
      }
    }
    List<Batch> gone = List.copyOf(old.values());
    for (Batch batch : came) {
      errors.came(entry, batch, gone, errorRows(batch));
    }
    Set<String> named = new HashSet<>(Parts.keys(after.batches()));
    for (String key : Parts.keys(gone)) {
      if (!named.contains(key)) {
        live.remove(key);
        left.put(key, new Left(after.seqno(), clockMillis.getAsLong()));
      }
    }
    if (after.seqno().value() % AUDIT_INTERVAL == 0) {
      checkContents();
    }
  }

  private void appendHappened(ShardState before, ShardState after, LogEntry entry) {
    WriterAttempt by = writer(entry);
    checkFence(before, by);
    Frontier lower = before.upper();
    if (!lower.isBefore(after.upper()) || before.upper().isEnd()) {
      throw new ViolationError("I4", "an append from " + lower + " to " + after.upper());
    }
    model.append(by.writer(), new BatchDescription(lower, after.upper()));
    for (Fact fact : entry.diff().add()) {
      if (fact instanceof Fact.BatchFact added && !isThere(before, added.id())) {
        if (!appended.add(added.id())) {
          throw new ViolationError("I5", "batch " + added.id() + " is appended twice");
        }
        if (refused.contains(added.id())) {
          throw new ViolationError("I5", "batch " + added.id() + " was refused, and is appended");
        }
      }
    }
  }

  private static void checkFence(ShardState before, WriterAttempt by) {
    Fact.WriterFact known = before.writers().get(by.writer());
    if (known != null && (known.readOnly() || by.isOlderThan(known.by()))) {
      throw new ViolationError("I5", by + " appends, fenced as it is by " + known);
    }
  }

  /** Whose append it is. */
  static WriterAttempt writer(LogEntry entry) {
    for (Fact fact : entry.diff().add()) {
      if (fact instanceof Fact.WriterFact writer) {
        return writer.by();
      }
    }
    throw new ViolationError("I5", "an append without its writer");
  }

  private static boolean isThere(ShardState state, String id) {
    return state.batches().stream().anyMatch(batch -> batch.id().equals(id));
  }

  private void batchCame(Batch batch, LogEntry entry) {
    for (String key : Parts.keys(List.of(batch))) {
      if (left.containsKey(key)) {
        throw new ViolationError("I3", key + " comes back at version " + entry.seqno());
      }
      live.add(key);
    }
    model.check(batch, rows(batch));
    if (entry.command().equals("install") || entry.command().equals("discard")) {
      holds.checkMerge(batch);
    }
  }

  /** The rows of a batch, straight from the objects. */
  private List<Update> rows(Batch batch) {
    return rows(batch, Parts.ofRuns(batch));
  }

  private List<Update> errorRows(Batch batch) {
    return rows(batch, batch.errors());
  }

  private List<Update> rows(Batch batch, List<Part> parts) {
    List<Update> rows = new ArrayList<>();
    for (Part part : parts) {
      byte[] bytes =
          bucket
              .bytes(Parts.key(part))
              .orElseThrow(
                  () ->
                      new ViolationError(
                          "I3", "batch " + batch.id() + " names " + Parts.key(part) + ": gone"));
      if (!Parts.isWhole(part, bytes)) {
        throw new ViolationError(
            "I3", Parts.key(part) + " isn't what batch " + batch.id() + " says");
      }
      rows.addAll(Parts.within(batch, Parts.rows(part, bytes)));
    }
    return rows;
  }

  private void rollupCreated(String key, byte[] bytes) {
    long number = number(key);
    if (number >= states.size()) {
      throw new ViolationError("I2", key + " is of a version that isn't there");
    }
    if (!states.get((int) number).facts().equals(decode(key, bytes).diff().add())) {
      throw new ViolationError("I2", key + " doesn't hold what was at that version");
    }
    counts.merge("rollups", 1L, Long::sum);
  }

  private void partDeleted(String key) {
    if (live.contains(key)) {
      throw new ViolationError(
          "I3", key + " is deleted, but version " + head().seqno() + " names it");
    }
    Left when = left.get(key);
    if (when != null) {
      long age = clockMillis.getAsLong() - when.atMillis();
      if (age < keepMillis) {
        throw new ViolationError(
            "I3", key + " left at version " + when.at() + " and is deleted after " + age + " ms");
      }
      holds.checkDeletion(key, when.at());
    }
    counts.merge(when == null ? "orphans deleted" : "parts deleted", 1L, Long::sum);
  }

  private void entryDeleted(String key) {
    long number = number(key);
    if (!isClosed(number)) {
      throw new ViolationError("I2", key + " is deleted, but its block isn't closed");
    }
    deletedUpTo = Math.max(deletedUpTo, number);
    checkStart("");
    counts.merge("entries deleted", 1L, Long::sum);
  }

  private void rollupDeleted(String key) {
    checkStart(key);
    counts.merge("rollups deleted", 1L, Long::sum);
  }

  /** There is a rollup from which everything after it can be read. */
  private void checkStart(String without) {
    List<String> rollups = new ArrayList<>(bucket.keys("rollup/"));
    rollups.remove(without);
    long newest = rollups.isEmpty() ? 0 : number(rollups.get(rollups.size() - 1));
    if (newest < deletedUpTo) {
      throw new ViolationError(
          "I3", "version " + deletedUpTo + " is deleted, the newest rollup is of " + newest);
    }
  }

  // ---- What actors say

  /** A handle knows this. */
  void checkKnown(String who, ShardState state) {
    int number = (int) state.seqno().value();
    if (number >= states.size() || !states.get(number).equals(state)) {
      throw new ViolationError("I2", who + " takes for true what never was version " + number);
    }
  }

  /** An actor was told that its entry is in the log. */
  void checkCommitted(String who, LogEntry entry) {
    int number = (int) entry.seqno().value();
    if (number > entries.size() || !entries.get(number - 1).nonce().equals(entry.nonce())) {
      throw new ViolationError("I5", who + " was told that it won version " + number);
    }
  }

  /** A writer was told that these are in the log already. */
  void checkDone(String who, Command.Append append, boolean byItself) {
    for (Batch batch : append.batches()) {
      if (head().upper().isBefore(batch.bounds().upper())
          || (byItself && !model.isOf(append.by().writer(), batch.bounds()))) {
        throw new ViolationError(
            "I5",
            who + " was told that " + batch.id() + " " + batch.bounds() + " is there already");
      }
    }
  }

  /** A writer was told that these are not in the log and never will be. */
  void refuse(String who, Command.Append append) {
    for (Batch batch : append.batches()) {
      if (appended.contains(batch.id())) {
        throw new ViolationError(
            "I5", who + " was told that " + batch.id() + " is refused, but it is in the log");
      }
      refused.add(batch.id());
    }
  }

  /** Adds up all there is at some times between since and upper. */
  void checkContents() {
    ShardState state = head();
    if (!state.exists() || state.upper().isMinimum() || state.since().isEnd()) {
      return;
    }
    long last =
        state.upper().isEnd()
            ? Math.max(lastTime(state), state.since().time())
            : state.upper().time() - 1;
    long first = Math.max(0, state.since().time());
    if (first > last) {
      return;
    }
    List<Update> all = new ArrayList<>();
    state.batches().forEach(batch -> all.addAll(rows(batch)));
    for (long asOf : new long[] {first, last, chance.between(first, last)}) {
      if (!Rows.at(asOf, all).equals(model.at(asOf))) {
        throw new ViolationError(
            "I1", "at " + asOf + " there is " + Rows.at(asOf, all) + ", not " + model.at(asOf));
      }
    }
  }

  /** After quiet: only what the head names is there, and no entry of a closed block. */
  void checkGarbage() {
    for (String key : bucket.keys("part/")) {
      if (left.containsKey(key)) {
        throw new ViolationError("I7", key + " left long ago and is still there");
      }
      if (!live.contains(key)) {
        throw new ViolationError("I7", key + " is an orphan of long ago and is still there");
      }
    }
    for (String key : bucket.uploads()) {
      throw new ViolationError("I7", "an upload of " + key + " of long ago was never given up");
    }
    for (String key : bucket.keys("log/")) {
      if (!key.startsWith("log/closed/") && isClosed(number(key))) {
        throw new ViolationError("I7", key + " is still there, though its block is closed");
      }
    }
  }

  private static long lastTime(ShardState state) {
    long last = 0;
    for (Batch batch : state.batches()) {
      last = Math.max(last, batch.maxTime());
    }
    return last;
  }
}
