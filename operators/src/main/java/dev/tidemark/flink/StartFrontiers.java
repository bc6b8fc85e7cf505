package dev.tidemark.flink;

import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.StateInitializationContext;

/**
 * From which time on a job that began without state may write each of its shards: the shard's upper
 * when the job first met it. It is read once, before anything can be committed, and is operator
 * state from then on, the same in all subtasks: after a restart the upper is another, but the rows
 * in flight were weighed by this one.
 */
public final class StartFrontiers {
  private static final MapStateDescriptor<String, Long> APPENDED =
      new MapStateDescriptor<>("append-from-1", Types.STRING, Types.LONG);
  private static final MapStateDescriptor<String, Long> RESUMED =
      new MapStateDescriptor<>("resume-from-1", Types.STRING, Types.LONG);

  private final long[] from;
  private final boolean[] replays;

  private StartFrontiers(int shards) {
    from = new long[shards];
    replays = new boolean[shards];
  }

  /** Reads them from the state, or, where there is none, from the shards' logs. */
  public static StartFrontiers of(
      StateInitializationContext context, List<ShardTarget> shards, StartSettings settings)
      throws Exception {
    BroadcastState<String, Long> appended =
        context.getOperatorStateStore().getBroadcastState(APPENDED);
    BroadcastState<String, Long> resumed =
        context.getOperatorStateStore().getBroadcastState(RESUMED);
    if (!context.isRestored() && settings.mode() != StartMode.REFUSE) {
      BroadcastState<String, Long> met = settings.mode() == StartMode.APPEND ? appended : resumed;
      for (ShardTarget shard : shards) {
        met.put(shard.url(), upper(shard, settings));
      }
    }
    StartFrontiers frontiers = new StartFrontiers(shards.size());
    for (int i = 0; i < shards.size(); i++) {
      String url = shards.get(i).url();
      frontiers.replays[i] = resumed.contains(url);
      frontiers.from[i] = least(frontiers.replays[i] ? resumed : appended, url);
    }
    return frontiers;
  }

  private static long least(BroadcastState<String, Long> met, String url) throws Exception {
    return met.contains(url) ? met.get(url) : Long.MIN_VALUE;
  }

  private static long upper(ShardTarget shard, StartSettings settings) throws IOException {
    try (ObjectStore store = Stores.open(shard.url(), settings.store())) {
      ShardState state = new ShardLog(store).refresh();
      return state.exists() ? state.upper().time() : Long.MIN_VALUE;
    }
  }

  /** Whether a row of this time is in the shard already, by {@code start = resume-by-time}. */
  public boolean isReplayed(int shard, long time) {
    return replays[shard] && time < from[shard];
  }

  /** The time at which a row comes that isn't in the shard yet. */
  public long atLeastStart(int shard, long time) {
    return Math.max(time, from[shard]);
  }
}
