package dev.tidemark.flink.write;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.ShardTarget;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Counts the records that write leaves out. The input has counted them as stored, or as errors, so
 * that is taken back here: summed over the operators each record has one fate. Operator state, as
 * the input's counts are, so that both go back together.
 */
final class LeftOut {
  private static final List<Fate> FATES =
      List.of(Fate.STORED, Fate.ERROR, Fate.LATE, Fate.REPLAYED);
  private static final ListStateDescriptor<Tuple2<String, Long>> STATE =
      new ListStateDescriptor<>(
          "left-out-1", TypeInformation.of(new TypeHint<Tuple2<String, Long>>() {}));

  private final ListState<Tuple2<String, Long>> state;
  private final List<Map<Fate, LongCounter>> byShard = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  LeftOut(
      List<ShardTarget> shards,
      RuntimeContext context,
      MetricGroup metrics,
      OperatorStateStore store)
      throws Exception {
    state = store.getListState(STATE);
    for (ShardTarget shard : shards) {
      MetricGroup group = metrics.addGroup("tidemark").addGroup(shard.name());
      Map<Fate, LongCounter> counters = new EnumMap<>(Fate.class);
      for (Fate fate : FATES) {
        LongCounter counter = new LongCounter();
        String name = InputCounts.name(shard.name(), fate);
        context.addAccumulator(name, counter);
        Gauge<Long> gauge = counter::getLocalValuePrimitive;
        group.gauge(name.substring(name.lastIndexOf('.') + 1), gauge);
        counters.put(fate, counter);
      }
      byShard.add(counters);
      names.add(shard.name());
    }
    Map<String, Long> restored = new HashMap<>();
    for (Tuple2<String, Long> entry : state.get()) {
      restored.merge(entry.f0, entry.f1, Long::sum);
    }
    for (int shard = 0; shard < names.size(); shard++) {
      for (Fate fate : FATES) {
        String name = InputCounts.name(names.get(shard), fate);
        counter(shard, fate).add((long) restored.getOrDefault(name, 0L));
      }
    }
  }

  private LongCounter counter(int shard, Fate fate) {
    return Objects.requireNonNull(byShard.get(shard).get(fate));
  }

  /** A record that the input took for a row, or for an error row, has another fate. */
  void count(int shard, boolean error, Fate fate) {
    counter(shard, error ? Fate.ERROR : Fate.STORED).add(-1L);
    counter(shard, fate).add(1L);
  }

  /** Writes the counts into the state. */
  void snapshot() throws Exception {
    state.clear();
    for (int shard = 0; shard < names.size(); shard++) {
      for (Fate fate : FATES) {
        long value = counter(shard, fate).getLocalValuePrimitive();
        if (value != 0) {
          state.add(Tuple2.of(InputCounts.name(names.get(shard), fate), value));
        }
      }
    }
  }
}
