package dev.tidemark.flink.upsert;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StartMode;
import dev.tidemark.flink.StartSettings;
import dev.tidemark.flink.message.KeyedRow;
import dev.tidemark.flink.message.Update;
import dev.tidemark.hold.Holds;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.HeldReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs {@link UpsertFunction}. Where a job without state goes on with shards that have data, each
 * subtask first reads the shards' snapshots, under holds, and keeps the last rows of its own keys:
 * what is retracted must be what is there.
 */
public final class UpsertOperator extends KeyedProcessOperator<String, KeyedRow, Update> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(UpsertOperator.class);

  /** How long a reader's hold outlives it when the task dies; it is renewed while it reads. */
  private static final Duration HOLD_EXPIRY = Duration.ofMinutes(15);

  private final List<ShardTarget> shards;
  private final List<Integer> upserts;
  private final StartSettings start;
  private transient boolean restored;

  /**
   * For a job's shards.
   *
   * @param upserts which of them are written by key, by index
   */
  public UpsertOperator(
      List<ShardTarget> shards, List<Integer> upserts, SlotKeys slots, StartSettings start) {
    super(new UpsertFunction(shards, slots));
    this.shards = new ArrayList<>(shards);
    this.upserts = new ArrayList<>(upserts);
    this.start = start;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    restored = context.isRestored();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    ForgottenKeys forgotten = ((UpsertFunction) userFunction).forgotten();
    for (String key : forgotten.unsaved()) {
      setCurrentKey(key);
      forgotten.save(key);
    }
  }

  private void restoreForgotten() throws Exception {
    ForgottenKeys forgotten = ((UpsertFunction) userFunction).forgotten();
    List<String> keys;
    try (var found =
        this.<String>getKeyedStateBackend()
            .getKeys(ForgottenKeys.stateName(), VoidNamespace.INSTANCE)) {
      keys = found.toList();
    }
    for (String key : keys) {
      setCurrentKey(key);
      forgotten.restore(key);
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    restoreForgotten();
    if (!restored && start.mode() != StartMode.REFUSE) {
      for (int shard : upserts) {
        fill(shard);
      }
    }
  }

  private void fill(int shard) throws IOException {
    ShardTarget target = shards.get(shard);
    try (ObjectStore store = Stores.open(target.url(), start.store())) {
      ShardLog log = new ShardLog(store);
      ShardState state = log.refresh();
      if (!state.exists() || state.upper().isMinimum()) {
        return;
      }
      String host = Attempts.begin("upsert", Clock.systemUTC()).host();
      HeldReader.Terms terms = new HeldReader.Terms("upsert", host, HOLD_EXPIRY.toMillis());
      try (HeldReader reader =
              HeldReader.open(log, new Holds(log), terms, seen -> seen.upper().time() - 1);
          UpdateCursor rows = reader.snapshot(0)) {
        LOG.info(
            "shard {}: {} of its keys are kept here, as of {}",
            target.name(),
            keep(shard, rows, new RowCodec(reader.schema())),
            reader.asOfMillis());
      }
    }
  }

  private long keep(int shard, UpdateCursor rows, RowCodec codec) throws IOException {
    UpsertFunction function = (UpsertFunction) userFunction;
    TaskInfo task = getRuntimeContext().getTaskInfo();
    int keyGroups = task.getMaxNumberOfParallelSubtasks();
    KeyGroupRange own =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            keyGroups, task.getNumberOfParallelSubtasks(), task.getIndexOfThisSubtask());
    long kept = 0;
    while (rows.next()) {
      int begin = rows.rowOffset();
      byte[] row = Arrays.copyOfRange(rows.row(), begin, begin + rows.rowLength());
      byte[] key = Arrays.copyOf(row, codec.keyLength(row, 0, row.length));
      String keyed = UpsertFunction.keyOf(new KeyedRow(shard, key, row, rows.time(), false));
      if (own.contains(KeyGroupRangeAssignment.assignToKeyGroup(keyed, keyGroups))) {
        setCurrentKey(keyed);
        function.keep(row, rows.time());
        kept++;
      }
    }
    return kept;
  }
}
