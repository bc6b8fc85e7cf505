package dev.tidemark.read;

import dev.tidemark.log.LogCodec;
import dev.tidemark.log.LogEntry;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.ShardLog;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Proves a shard sound or names what isn't: replays its log entry by entry, checking every rule at
 * every version; compares each rollup with what was replayed; looks whether every live part is
 * there with its size; and, deep, reads each of them whole. Changes nothing. Not thread-safe.
 */
public final class Verifier {
  /** Entries read at a time. */
  private static final int PAGE = 256;

  /** Findings after which the rest is not worth naming. */
  private static final int MOST_FINDINGS = 1000;

  private final ShardLog log;
  private final ObjectStore store;
  private final List<Finding> findings = new ArrayList<>();
  private long versions;
  private long rollups;
  private long parts;
  private long bytesRead;

  /** Verifies the shard of a log. */
  public Verifier(ShardLog log) {
    this.log = log;
    this.store = log.store();
  }

  /**
   * Something that is not as it should be.
   *
   * @param where the key, version or batch
   * @param what what is wrong with it
   */
  public record Finding(String where, String what) {
    @Override
    public String toString() {
      return where + ": " + what;
    }
  }

  /**
   * What was looked at and found.
   *
   * @param state the last version that could be replayed
   * @param versions entries replayed
   * @param rollups rollups compared
   * @param batches live batches
   * @param parts live parts looked at, error parts included
   * @param rows updates in live batches by their facts
   * @param bytes their row bytes
   * @param errorRows updates in error parts by their facts
   * @param bytesRead bytes of parts read, 0 unless deep
   * @param findings what is wrong, empty when the shard is sound
   */
  public record Report(
      ShardState state,
      long versions,
      long rollups,
      long batches,
      long parts,
      long rows,
      long bytes,
      long errorRows,
      long bytesRead,
      List<Finding> findings) {
    /** Copies the list. */
    public Report {
      findings = List.copyOf(findings);
    }

    /** Whether nothing is wrong. */
    public boolean sound() {
      return findings.isEmpty();
    }
  }

  /**
   * Verifies the shard.
   *
   * @param deep whether every live part is read
   * @throws StoreException when the store can't be reached; damage is a finding, not an exception
   */
  public Report verify(boolean deep) throws IOException {
    findings.clear();
    versions = 0;
    rollups = 0;
    parts = 0;
    bytesRead = 0;
    ShardState state = replay();
    if (state.exists()) {
      compareWithHandle(state);
      lookAtParts(state, deep);
    }
    List<Batch> batches = state.exists() ? state.batches() : List.of();
    return new Report(
        state,
        versions,
        rollups,
        batches.size(),
        parts,
        batches.stream().mapToLong(Batch::rows).sum(),
        batches.stream().mapToLong(Batch::bytes).sum(),
        batches.stream().flatMap(b -> b.errors().stream()).mapToLong(Part::rows).sum(),
        bytesRead,
        findings);
  }

  private void find(String where, String what) {
    if (findings.size() < MOST_FINDINGS) {
      findings.add(new Finding(where, what));
    }
  }

  // ---- The log

  private ShardState replay() throws IOException {
    SortedSet<SeqNo> listed = new TreeSet<>(log.rollups());
    ShardState state = base(listed);
    while (true) {
      List<LogEntry> page;
      try {
        page = log.entries(state.seqno().next(), PAGE);
      } catch (LogFormatException e) {
        return replayBefore(state, listed, e);
      }
      for (LogEntry entry : page) {
        ShardState next = step(state, entry, listed);
        if (next == null) {
          return state;
        }
        state = next;
      }
      if (page.size() < PAGE) {
        checkEnd(state, listed);
        return state;
      }
    }
  }

  /** Where replaying begins: nothing, or the oldest rollup that the log goes on from. */
  private ShardState base(SortedSet<SeqNo> listed) throws IOException {
    Optional<SeqNo> oldest = log.oldestEntry();
    SeqNo first = SeqNo.ZERO.next();
    if (oldest.isEmpty() && listed.isEmpty()) {
      find(store.location(), "no shard: neither log nor rollup");
      return ShardState.EMPTY;
    }
    if (oldest.isPresent() && oldest.get().equals(first)) {
      return ShardState.EMPTY;
    }
    for (SeqNo seqno : listed) {
      boolean joins = oldest.isEmpty() || seqno.next().compareTo(oldest.get()) >= 0;
      if (joins) {
        Optional<ShardState> rollup = readRollup(seqno);
        if (rollup.isPresent()) {
          return rollup.get();
        }
      }
    }
    find(
        store.location(),
        "the log begins at version "
            + oldest.map(SeqNo::toString).orElse("none")
            + " and no rollup leads up to it");
    return ShardState.EMPTY;
  }

  private Optional<ShardState> readRollup(SeqNo seqno) throws IOException {
    try {
      Optional<ShardState> state = log.rollup(seqno);
      if (state.isEmpty()) {
        find("rollup " + seqno, "can't be read whole");
      }
      return state;
    } catch (LogFormatException e) {
      find("rollup " + seqno, String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  private @Nullable ShardState step(ShardState state, LogEntry entry, SortedSet<SeqNo> listed)
      throws IOException {
    ShardState next;
    try {
      next = ShardLog.replay(state, entry);
    } catch (CorruptShardException e) {
      find("version " + state.seqno().next(), String.valueOf(e.getMessage()));
      return null;
    }
    versions++;
    if (listed.contains(next.seqno())) {
      Optional<ShardState> rollup = readRollup(next.seqno());
      if (rollup.isPresent()) {
        rollups++;
        if (!Arrays.equals(canonical(rollup.get()), canonical(next))) {
          find("rollup " + next.seqno(), "differs from what the log leads to");
        }
      }
    }
    return next;
  }

  /** Replays one by one up to the entry that can't be read. */
  private ShardState replayBefore(
      ShardState from, SortedSet<SeqNo> listed, LogFormatException failure) throws IOException {
    ShardState state = from;
    try {
      for (int i = 0; i < PAGE; i++) {
        Optional<LogEntry> entry = log.entry(state.seqno().next());
        ShardState next = entry.isEmpty() ? null : step(state, entry.get(), listed);
        if (next == null) {
          break;
        }
        state = next;
      }
      find("version " + state.seqno().next(), String.valueOf(failure.getMessage()));
    } catch (LogFormatException e) {
      find("version " + state.seqno().next(), String.valueOf(e.getMessage()));
    }
    return state;
  }

  /** Nothing may stand behind the end: numbers are taken one after another. */
  private void checkEnd(ShardState state, SortedSet<SeqNo> listed) throws IOException {
    SeqNo end = state.seqno();
    List<SeqNo> behind = log.entriesListedAfter(end);
    if (!behind.isEmpty() && log.entry(end.next()).isEmpty()) {
      find(
          "version " + end.next(),
          "is missing, but version " + behind.get(behind.size() - 1) + " is there");
    }
    if (!listed.isEmpty() && listed.last().compareTo(end) > 0) {
      find("rollup " + listed.last(), "is of a version past the log's end " + end);
    }
  }

  private static byte[] canonical(ShardState state) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (Fact fact : state.facts()) {
      bytes.writeBytes(LogCodec.encodeFact(fact));
    }
    return bytes.toByteArray();
  }

  /** What others see when they open the shard must be what the log says. */
  private void compareWithHandle(ShardState replayed) throws IOException {
    try {
      ShardState opened = log.refresh();
      if (opened.seqno().equals(replayed.seqno()) && !opened.facts().equals(replayed.facts())) {
        find("version " + opened.seqno(), "opened by its newest rollup differs from the log");
      }
    } catch (CorruptShardException | LogFormatException e) {
      find(store.location(), String.valueOf(e.getMessage()));
    }
  }

  // ---- The parts

  private void lookAtParts(ShardState state, boolean deep) throws IOException {
    Map<String, Long> sizes = sizes();
    PartCheck check = new PartCheck(store, state.shard());
    for (Batch batch : state.batches()) {
      Schema schema = state.schema(batch.schema());
      for (List<Part> run : batch.runs()) {
        lookAt(batch, run, schema, sizes, deep ? check : null);
      }
      for (Part part : batch.errors()) {
        lookAt(batch, List.of(part), ErrorRows.SCHEMA, sizes, deep ? check : null);
      }
    }
    bytesRead = check.bytesRead();
  }

  private Map<String, Long> sizes() throws StoreException {
    Map<String, Long> sizes = new HashMap<>();
    String after = "";
    List<ObjectInfo> page;
    do {
      page = store.list("part/", after, 1000);
      for (ObjectInfo object : page) {
        sizes.put(object.key(), object.sizeBytes());
        after = object.key();
      }
    } while (!page.isEmpty());
    return sizes;
  }

  private void lookAt(
      Batch batch,
      List<Part> run,
      Schema schema,
      Map<String, Long> sizes,
      @Nullable PartCheck check)
      throws IOException {
    for (Part part : run) {
      parts++;
      String name = "batch " + batch.id() + ", inline part";
      if (part.location() instanceof PartLocation.Stored stored) {
        name = stored.key();
        Long size = sizes.get(stored.key());
        if (size == null) {
          find(name, "is missing (batch " + batch.id() + ")");
          continue;
        }
        if (size != stored.sizeBytes()) {
          find(name, "has " + size + " bytes, not " + stored.sizeBytes());
          continue;
        }
      }
      if (check != null) {
        for (String fault : check.faults(batch, part, schema)) {
          find(name, fault);
        }
      }
    }
    if (check != null) {
      for (String fault : check.orderFaults(run)) {
        find("batch " + batch.id(), fault);
      }
    }
  }
}
