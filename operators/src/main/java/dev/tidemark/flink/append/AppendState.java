package dev.tidemark.flink.append;

import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.time.Frontier;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.jspecify.annotations.Nullable;

/**
 * What append keeps in Flink's state. Keyed by shard, of the key that is set: the batches that
 * aren't known to be in the log, what was seen of the shard, and from where on the job writes it.
 * For the whole operator: what stands promised.
 */
final class AppendState {
  private final MapState<PendingKey, WrittenBatch> pending;
  private final ValueState<SeenShard> seen;
  private final ValueState<Long> start;
  private final BroadcastState<Long, Long> promised;
  private final boolean restored;

  AppendState(StateInitializationContext context) throws Exception {
    var keyed = context.getKeyedStateStore();
    restored = context.isRestored();
    pending =
        keyed.getMapState(
            new MapStateDescriptor<>("pending-1", PendingKey.TYPE, WrittenBatch.TYPE));
    seen = keyed.getState(new ValueStateDescriptor<>("seen-1", SeenShard.TYPE));
    start = keyed.getState(new ValueStateDescriptor<>("start-1", Types.LONG));
    promised =
        context
            .getOperatorStateStore()
            .getBroadcastState(new MapStateDescriptor<>("promised-1", Types.LONG, Types.LONG));
  }

  /** Whether there is anything to go on from. */
  boolean isRestored() {
    return restored;
  }

  /** What the restored state was promised at most. */
  Promise promise() throws Exception {
    return Coverage.restored(promised.immutableEntries());
  }

  /** What was seen of the shard; null: nothing yet. */
  @Nullable SeenShard seen() throws Exception {
    return restored ? seen.value() : null;
  }

  /** The shard's upper when a job that began without state first met it; else the minimum. */
  Frontier start() throws Exception {
    Long time = start.value();
    return time == null ? Frontier.MINIMUM : Frontier.of(time);
  }

  void start(Frontier upper) throws Exception {
    start.update(upper.time());
  }

  /** Hands the shard its batches. */
  void restore(PendingBatches batches) throws Exception {
    for (Map.Entry<PendingKey, WrittenBatch> entry : pending.entries()) {
      batches.addRestored(entry.getKey(), entry.getValue());
    }
  }

  /** Batches of the shard are in the log. */
  void remove(List<PendingKey> done) throws Exception {
    for (PendingKey key : done) {
      pending.remove(key);
    }
  }

  /** Writes down what has changed of the shard since the last checkpoint. */
  void write(OwnedShard shard, long checkpoint) throws Exception {
    for (Map.Entry<PendingKey, WrittenBatch> added : shard.pending().tag(checkpoint)) {
      pending.put(added.getKey(), added.getValue());
    }
    if (shard.changedSinceSnapshot()) {
      seen.update(shard.seen());
    }
  }

  /** Writes down what stands promised. */
  void write(Coverage coverage) throws Exception {
    promised.clear();
    promised.putAll(coverage.state());
  }
}
