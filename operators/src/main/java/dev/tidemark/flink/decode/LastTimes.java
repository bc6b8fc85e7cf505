package dev.tidemark.flink.decode;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple3;
import org.jspecify.annotations.Nullable;

/**
 * The last time of each table and partition, below which no later row of it may fall where order
 * matters. Operator state.
 */
final class LastTimes {
  private static final ListStateDescriptor<Tuple3<Integer, String, Long>> STATE =
      new ListStateDescriptor<>(
          "last-times", TypeInformation.of(new TypeHint<Tuple3<Integer, String, Long>>() {}));

  private final ListState<Tuple3<Integer, String, Long>> state;
  private final Map<Key, long[]> times = new HashMap<>();

  private record Key(int shard, String partition) {}

  LastTimes(OperatorStateStore store) throws Exception {
    state = store.getListState(STATE);
    for (Tuple3<Integer, String, Long> entry : state.get()) {
      Key key = new Key(entry.f0, entry.f1);
      times.merge(key, new long[] {entry.f2}, (a, b) -> new long[] {Math.max(a[0], b[0])});
    }
  }

  void snapshot() throws Exception {
    state.clear();
    for (Map.Entry<Key, long[]> entry : times.entrySet()) {
      state.add(Tuple3.of(entry.getKey().shard(), entry.getKey().partition(), entry.getValue()[0]));
    }
  }

  /** The time for a row, which becomes the last. */
  long atLeastLast(int shard, String partition, long time) {
    long[] last = times.computeIfAbsent(new Key(shard, partition), key -> new long[] {time});
    last[0] = Math.max(last[0], time);
    return last[0];
  }

  /** Another partition in which rows of a shard have come; null: none is known. */
  @Nullable String otherPartition(int shard, String partition) {
    for (Key key : times.keySet()) {
      if (key.shard() == shard && !key.partition().equals(partition)) {
        return key.partition();
      }
    }
    return null;
  }

  /** A partition is at its end, or another's. */
  void over(String partition) {
    times.keySet().removeIf(key -> key.partition().equals(partition));
  }
}
