package dev.tidemark.cli;

import dev.tidemark.log.LogEntry;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What has happened to a shard, summed over the versions of its log: what the bounds of a spine are
 * made of. Not thread-safe.
 */
final class ShardHistory {
  /** Each version is a request; past this many the sums are given up. */
  private static final long MOST_VERSIONS = 100_000;

  private static final int PAGE = 256;

  private SeqNo seen = SeqNo.ZERO;
  private boolean whole = true;
  private long appends;
  private long appendedRuns;
  private long appendedBytes;
  private long appendedRows;
  private long merges;
  private long mergedBytes;

  /** Reads the log on to a version. */
  void readTo(ShardLog log, SeqNo seqno) throws IOException {
    if (!whole || seqno.value() - seen.value() > MOST_VERSIONS) {
      whole = false;
      return;
    }
    while (seen.compareTo(seqno) < 0) {
      int most = (int) Math.min(PAGE, seqno.value() - seen.value());
      List<LogEntry> entries = log.entries(seen.next(), most);
      for (LogEntry entry : entries) {
        add(entry.command(), entry.diff());
        seen = entry.seqno();
      }
      if (entries.isEmpty()) {
        whole = false;
        return;
      }
    }
  }

  private void add(String command, Diff diff) {
    Map<String, Batch> before = new HashMap<>();
    for (Fact fact : diff.remove()) {
      if (fact instanceof Fact.BatchFact batch) {
        before.put(batch.id(), batch.batch());
      }
    }
    boolean append = command.equals("append");
    appends += append ? 1 : 0;
    for (Fact fact : diff.add()) {
      if (fact instanceof Fact.BatchFact added && !before.containsKey(added.id())) {
        Batch batch = added.batch();
        if (append) {
          appendedRuns += batch.runCount();
          appendedBytes += batch.bytes();
          appendedRows += batch.rows();
        } else {
          merges++;
          mergedBytes += batch.bytes();
        }
      }
    }
  }

  /** Whether the log held every version. */
  boolean whole() {
    return whole;
  }

  long appends() {
    return appends;
  }

  long appendedRuns() {
    return appendedRuns;
  }

  long appendedBytes() {
    return appendedBytes;
  }

  long appendedRows() {
    return appendedRows;
  }

  /** Bytes of appends and installed merges. */
  long writtenBytes() {
    return appendedBytes + mergedBytes;
  }

  long merges() {
    return merges;
  }

  /** Bytes of appends and installed merges, over bytes appended; 1 before the first append. */
  double writeAmplification() {
    return appendedBytes == 0 ? 1 : (appendedBytes + mergedBytes) / (double) appendedBytes;
  }
}
