package dev.tidemark.cli;

import dev.tidemark.log.LogEntry;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartStore;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.shard.Invariants;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.PartLocation;
import dev.tidemark.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks one shard: the log from its first version to its head, each version and each step; then,
 * if asked, every part of the head. Findings are lines for people; a finding in the log ends the
 * replay, one in a part doesn't end the reading.
 */
final class Verification {
  private static final int MOST_FINDINGS = 100;
  private static final int BOUND_BYTES = 64;

  private final ShardLog log;
  private final ShardState head;
  private final List<String> findings = new ArrayList<>();
  private long versions;
  private long parts;
  private long rowsRead;

  Verification(ShardLog log, ShardState head) {
    this.log = log;
    this.head = head;
  }

  /** Replays the log. */
  void replay() throws IOException {
    ShardState state = ShardState.EMPTY;
    try {
      while (state.seqno().compareTo(head.seqno()) < 0) {
        SeqNo next = state.seqno().next();
        Optional<LogEntry> entry = log.entry(next);
        if (entry.isEmpty()) {
          findings.add("version " + next + ": not in the log, though " + head.seqno() + " is");
          return;
        }
        if (state.exists() && !entry.get().shard().equals(state.shard())) {
          findings.add("version " + next + ": of another shard, " + entry.get().shard());
          return;
        }
        ShardState after = state.apply(entry.get().diff());
        Invariants.check(after);
        steps(state, after);
        state = after;
        versions++;
      }
    } catch (CorruptShardException | LogFormatException e) {
      findings.add("version " + state.seqno().next() + ": " + e.getMessage());
      return;
    }
    if (!state.facts().equals(head.facts())) {
      findings.add(
          "version " + head.seqno() + ": the log's facts are not those that a reader sees");
    }
  }

  /** What never goes back. */
  private void steps(ShardState before, ShardState after) {
    if (!before.exists()) {
      return;
    }
    if (after.upper().isBefore(before.upper()) || after.since().isBefore(before.since())) {
      findings.add("version " + after.seqno() + ": upper or since went back");
    }
    before
        .writers()
        .forEach(
            (id, writer) -> {
              var now = after.writers().get(id);
              if (now == null || now.upto().isBefore(writer.upto())) {
                findings.add("version " + after.seqno() + ": writer " + id + " went back");
              }
            });
  }

  /** Reads every part that the head names. */
  void readParts() throws IOException {
    PartStore store = new ShardReader(log).parts();
    for (Batch batch : head.batches()) {
      Schema schema = head.schema(batch.schema());
      for (List<Part> run : batch.runs()) {
        byte @Nullable [] last = null;
        for (Part part : run) {
          last = check(store, batch, part, schema, last);
        }
      }
      for (Part part : batch.errors()) {
        check(store, batch, part, ErrorRows.SCHEMA, null);
      }
      long rows = batch.runs().stream().flatMap(List::stream).mapToLong(Part::rows).sum();
      if (rows != batch.rows()) {
        find("batch " + batch.id(), "says " + batch.rows() + " rows, its parts " + rows);
      }
    }
  }

  /** Reads one part and holds it against its handle; returns its last row. */
  private byte @Nullable [] check(
      PartStore store, Batch batch, Part part, Schema schema, byte @Nullable [] before)
      throws IOException {
    String name = name(batch, part);
    parts++;
    PartSums sums = new PartSums(new RowCodec(schema), before);
    try (UpdateCursor rows = store.read(part, schema, schema)) {
      while (rows.next()) {
        rowsRead++;
        sums.add(rows);
        if (!batch.cut()
            && !batch.bounds().contains(rows.time())
            && rows.time() > batch.since().time()) {
          find(name, "a row of time " + rows.time() + " outside its batch " + batch.bounds());
          break;
        }
      }
    } catch (StoreException e) {
      if (e.retryable() || e.reason() == StoreException.Reason.DENIED) {
        throw e;
      }
      find(name, e.getMessage());
      return before;
    } catch (IOException | RuntimeException e) {
      find(name, "can't be read: " + e.getMessage());
      return before;
    }
    sums.differences(part).forEach(difference -> find(name, difference));
    return sums.last();
  }

  private void find(String where, @Nullable String what) {
    if (findings.size() < MOST_FINDINGS) {
      findings.add(where + ": " + what);
    }
  }

  private static String name(Batch batch, Part part) {
    return part.location() instanceof PartLocation.Stored stored
        ? stored.key()
        : "inline part of batch " + batch.id();
  }

  List<String> findings() {
    return List.copyOf(findings);
  }

  long versions() {
    return versions;
  }

  int batches() {
    return head.batches().size();
  }

  long parts() {
    return parts;
  }

  long rowsRead() {
    return rowsRead;
  }

  /** What a part really holds. */
  private static final class PartSums {
    private final RowCodec codec;
    private byte @Nullable [] last;
    private long lastTime = Long.MIN_VALUE;
    private boolean sorted = true;
    private long rows;
    private long bytes;
    private long sum;
    private long retracted;
    private long minTime = Long.MAX_VALUE;
    private long maxTime = Long.MIN_VALUE;
    private byte @Nullable [] first;

    PartSums(RowCodec codec, byte @Nullable [] before) {
      this.codec = codec;
      this.last = before;
    }

    void add(UpdateCursor update) {
      byte[] row =
          Arrays.copyOfRange(
              update.row(), update.rowOffset(), update.rowOffset() + update.rowLength());
      if (last != null) {
        int order = Arrays.compareUnsigned(last, row);
        sorted &=
            order < 0 || (order == 0 && lastTime < update.time()) || (order == 0 && rows == 0);
      }
      first = first == null ? row : first;
      last = row;
      lastTime = update.time();
      int size = codec.countedBytes(row, 0, row.length);
      rows++;
      bytes += size;
      sum += update.diff();
      retracted += update.diff() < 0 ? size : 0;
      minTime = Math.min(minTime, update.time());
      maxTime = Math.max(maxTime, update.time());
    }

    byte @Nullable [] last() {
      return last;
    }

    List<String> differences(Part part) {
      List<String> found = new ArrayList<>();
      differ(found, "rows", part.rows(), rows);
      differ(found, "bytes", part.bytes(), bytes);
      differ(found, "sum of diffs", part.sum(), sum);
      differ(found, "retracted bytes", part.retracted(), retracted);
      if (rows > 0) {
        differ(found, "least time", part.minTime(), minTime);
        differ(found, "greatest time", part.maxTime(), maxTime);
      }
      if (!sorted) {
        found.add("its rows are not in order");
      }
      if (first != null
          && part.minKey() != null
          && Arrays.compareUnsigned(first, bytes(part.minKey())) < 0) {
        found.add("a row before its least key");
      }
      if (last != null
          && part.maxKey() != null
          && Arrays.compareUnsigned(last, bytes(part.maxKey())) > 0
          && bytes(part.maxKey()).length < BOUND_BYTES) {
        found.add("a row behind its greatest key");
      }
      return found;
    }

    private static byte[] bytes(String hex) {
      return HexFormat.of().parseHex(hex);
    }

    private static void differ(List<String> found, String what, long said, long is) {
      if (said != is) {
        found.add(what + ": the log says " + said + ", the part holds " + is);
      }
    }
  }
}
