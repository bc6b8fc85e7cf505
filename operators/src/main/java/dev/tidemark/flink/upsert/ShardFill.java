package dev.tidemark.flink.upsert;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.HeldReader;
import dev.tidemark.row.ChangedCursor;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.schema.SchemaChange;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads from shards what a subtask without state must know of them: the rows of its own keys. */
final class ShardFill {
  private static final Logger LOG = LoggerFactory.getLogger(ShardFill.class);

  /** How long a reader's hold outlives it when the task dies; it is renewed while it reads. */
  private static final Duration HOLD_EXPIRY = Duration.ofMinutes(15);

  /** How many rows are read between two lines of progress. */
  private static final long PROGRESS_ROWS = 1_000_000;

  /** What takes the rows. */
  @FunctionalInterface
  interface Keeper {
    void keep(int bucketKey, byte[] key, LastRow last) throws Exception;
  }

  private final UpsertSettings settings;
  private final Keeper keeper;
  private final KeyGroupRange own;
  private final int keyGroups;

  ShardFill(UpsertSettings settings, TaskInfo task, Keeper keeper) {
    this.settings = settings;
    this.keeper = keeper;
    this.keyGroups = task.getMaxNumberOfParallelSubtasks();
    this.own =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            keyGroups, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
  }

  void run(int shard) throws Exception {
    ShardTarget target = settings.shards().get(shard);
    try (ObjectStore store = Stores.open(target.url(), settings.start().store())) {
      ShardLog log = new ShardLog(store);
      ShardState state = log.refresh();
      if (!state.exists() || state.upper().isMinimum()) {
        return;
      }
      String host = Attempts.begin("upsert", Clock.systemUTC()).host();
      HeldReader.Terms terms = new HeldReader.Terms("upsert", host, HOLD_EXPIRY.toMillis());
      try (HeldReader reader =
              HeldReader.open(log, new Holds(log), terms, seen -> seen.upper().time() - 1);
          UpdateCursor rows = inOurSchema(target, state, reader)) {
        long kept = keep(shard, rows, new RowCodec(target.schema()));
        LOG.info(
            "shard {}: {} of its keys are kept here, as of {}",
            target.name(),
            kept,
            reader.asOfMillis());
      }
    }
  }

  /** Append may not have let the shard's schema follow the job's yet. */
  private static UpdateCursor inOurSchema(ShardTarget target, ShardState state, HeldReader reader)
      throws IOException {
    Schema next = SchemaChange.of(state.schemas(), target.schema()).next();
    return next == null || next.columns().equals(reader.schema().columns())
        ? reader.snapshot(0)
        : new ChangedCursor(reader.snapshot(0), reader.schema(), next);
  }

  private long keep(int shard, UpdateCursor rows, RowCodec codec) throws Exception {
    long read = 0;
    long kept = 0;
    byte[] before = new byte[0];
    while (rows.next()) {
      if (++read % PROGRESS_ROWS == 0) {
        LOG.info("shard {}: {} rows read", settings.shards().get(shard).name(), read);
      }
      int begin = rows.rowOffset();
      byte[] row = Arrays.copyOfRange(rows.row(), begin, begin + rows.rowLength());
      byte[] key = Arrays.copyOf(row, codec.keyLength(row, 0, row.length));
      if (rows.diff() != 1 || Arrays.equals(key, before)) {
        throw new StopForGoodException(
            "shard "
                + settings.shards().get(shard).url()
                + " holds several rows of one key, or one less than none: it can't be written by"
                + " key (envelope upsert); tidemark snapshot shows them");
      }
      before = key;
      int bucketKey = settings.buckets().key(shard, key);
      if (own.contains(KeyGroupRangeAssignment.assignToKeyGroup(bucketKey, keyGroups))) {
        keeper.keep(bucketKey, key, new LastRow(rows.time(), row));
        kept++;
      }
    }
    return kept;
  }
}
