package dev.tidemark.flink;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
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
 * Counts what became of the records read, so that each record ends in exactly one of stored, error,
 * late, replayed and ignored (docs/operations.md). The counts are operator state: they go back with
 * the rows on a restart and so stay exact. They are shown as Flink accumulators and metrics, {@code
 * tidemark.read}, {@code tidemark.ignored} and {@code tidemark.SHARD.stored}, say.
 */
public final class InputCounts {
  /** What can become of a record of a shard. */
  public enum Fate {
    STORED("stored"),
    ERROR("error"),
    LATE("late"),
    REPLAYED("replayed"),
    IGNORED("ignored");

    private final String word;

    Fate(String word) {
      this.word = word;
    }
  }

  /** All accumulators' names begin with it. */
  public static final String PREFIX = "tidemark.";

  /** The accumulator of all records read. */
  public static final String READ = PREFIX + "read";

  /** The accumulator of the ignored records that belong to no shard. */
  public static final String IGNORED = PREFIX + "ignored";

  /** The accumulator of columns of the input, row by row, that their shards don't have. */
  public static final String UNKNOWN_COLUMNS = PREFIX + "unknownColumns";

  private static final int MAX_UNMATCHED_NAMES = 100;
  private static final ListStateDescriptor<Tuple2<String, Long>> STATE =
      new ListStateDescriptor<>(
          "input-counts", TypeInformation.of(new TypeHint<Tuple2<String, Long>>() {}));

  private final RuntimeContext context;
  private final MetricGroup metrics;
  private final ListState<Tuple2<String, Long>> state;
  private final Map<String, LongCounter> counters = new TreeMap<>();
  private final List<Map<Fate, LongCounter>> byShard = new ArrayList<>();
  private final LongCounter read;
  private final LongCounter ignored;
  private final LongCounter unknownColumns;

  /** How many counters there are beside those of tables that no shard asks for. */
  private final int own;

  /**
   * The counts of one operator, restored from its state.
   *
   * @param names the shards' names by index
   */
  public InputCounts(
      List<String> names, RuntimeContext context, MetricGroup metrics, OperatorStateStore store)
      throws Exception {
    this.context = context;
    this.metrics = metrics;
    this.state = store.getListState(STATE);
    for (String name : names) {
      Map<Fate, LongCounter> fates = new EnumMap<>(Fate.class);
      for (Fate fate : Fate.values()) {
        fates.put(fate, counter(name(name, fate)));
      }
      byShard.add(fates);
    }
    this.read = counter(READ);
    this.ignored = counter(IGNORED);
    this.unknownColumns = counter(UNKNOWN_COLUMNS);
    this.own = counters.size();
    for (Tuple2<String, Long> entry : state.get()) {
      counter(entry.f0).add((long) entry.f1);
    }
  }

  /** The accumulator of a shard's records of one fate. */
  public static String name(String shard, Fate fate) {
    return PREFIX + shard + "." + fate.word;
  }

  /** A record was read. */
  public void read() {
    read.add(1L);
  }

  /** A record of a shard met its fate. */
  public void count(int shard, Fate fate) {
    Objects.requireNonNull(byShard.get(shard).get(fate)).add(1L);
  }

  /** A record of no shard was left out. */
  public void ignored() {
    ignored.add(1L);
  }

  /** A record of a table that no shard asks for was left out; the first hundred have names. */
  public void unmatched(String table) {
    ignored();
    String name = PREFIX + "unmatched." + table;
    if (counters.containsKey(name) || counters.size() < own + MAX_UNMATCHED_NAMES) {
      counter(name).add(1L);
    }
  }

  /** Columns of the input that the shard doesn't have were left out. */
  public void unknownColumns(int count) {
    unknownColumns.add((long) count);
  }

  /** Writes the counts into the state. */
  public void snapshot() throws Exception {
    state.clear();
    for (Map.Entry<String, LongCounter> entry : counters.entrySet()) {
      long value = entry.getValue().getLocalValuePrimitive();
      if (value != 0) {
        state.add(Tuple2.of(entry.getKey(), value));
      }
    }
  }

  private LongCounter counter(String name) {
    LongCounter known = counters.get(name);
    if (known != null) {
      return known;
    }
    LongCounter counter = new LongCounter();
    context.addAccumulator(name, counter);
    MetricGroup group = metrics;
    String[] words = name.split("\\.", -1);
    for (int i = 0; i < words.length - 1; i++) {
      group = group.addGroup(words[i]);
    }
    Gauge<Long> gauge = counter::getLocalValuePrimitive;
    group.gauge(words[words.length - 1], gauge);
    counters.put(name, counter);
    return counter;
  }
}
