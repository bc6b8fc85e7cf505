package dev.tidemark.flink.decode;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.taskexecutor.GlobalAggregateManager;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.jspecify.annotations.Nullable;

/**
 * Whether a topic has a partition beside the one at hand, in whatever subtask it is read: what
 * comes in two partitions has no order. Partitions are called {@code topic-number}, from 0. A
 * subtask tells the job master of a partition when it reads its first row, and asks it about a
 * topic when order matters: few calls, each of which waits for its answer.
 */
final class TopicPartitions {
  private static final String NAME = "tidemark-partitions";

  private final @Nullable GlobalAggregateManager manager;

  /** Partitions that this subtask has, with rows or without. */
  private final Set<String> here = new HashSet<>();

  private final Set<String> told = new HashSet<>();
  private String last = "";

  /** Of the job that runs here. */
  TopicPartitions(RuntimeContext context) {
    this(manager(context));
  }

  /** With the job master behind a manager; null: this subtask is alone. */
  TopicPartitions(@Nullable GlobalAggregateManager manager) {
    this.manager = manager;
  }

  private static @Nullable GlobalAggregateManager manager(RuntimeContext context) {
    if (context instanceof StreamingRuntimeContext streaming) {
      try {
        return streaming.getGlobalAggregateManager();
      } catch (UnsupportedOperationException notInAJob) {
        return null;
      }
    }
    return null;
  }

  /** This subtask was given a partition, of a topic or of anything else. */
  void assigned(String partition) {
    here.add(partition);
  }

  /** A partition is over. */
  void over(String partition) {
    here.remove(partition);
  }

  /** A row of a topic was read. */
  void read(String topic, String partition) throws IOException {
    if (!partition.equals(last)) {
      last = partition;
      here.add(partition);
      if (told.add(partition) && manager != null) {
        manager.updateGlobalAggregate(NAME, Tuple2.of(partition, topic), new Told());
      }
    }
  }

  /** Another partition of the topic; null: none is known. */
  @Nullable String besides(String topic, String partition) throws IOException {
    Set<String> known = new TreeSet<>(here);
    if (manager != null) {
      Map<String, String> all =
          manager.updateGlobalAggregate(NAME, Tuple2.of(partition, topic), new Told());
      all.forEach((name, of) -> known.add(of.equals(topic) ? name : partition));
    }
    known.add(topic + "-0"); // if it is this one, nothing is known of others
    return known.stream()
        .filter(name -> !name.equals(partition) && isOf(topic, name))
        .findFirst()
        .orElse(null);
  }

  private static boolean isOf(String topic, String partition) {
    return partition.startsWith(topic + "-")
        && partition.substring(topic.length() + 1).chars().allMatch(Character::isDigit);
  }

  /** Partition to topic. Runs in the job master; messages are of Flink's and Java's own types. */
  private static final class Told
      implements AggregateFunction<
          Tuple2<String, String>, Map<String, String>, Map<String, String>> {
    private static final long serialVersionUID = 1L;

    @Override
    public Map<String, String> createAccumulator() {
      return new HashMap<>();
    }

    @Override
    public Map<String, String> add(Tuple2<String, String> message, Map<String, String> partitions) {
      partitions.put(message.f0, message.f1);
      return partitions;
    }

    @Override
    public Map<String, String> getResult(Map<String, String> partitions) {
      return new HashMap<>(partitions);
    }

    @Override
    public Map<String, String> merge(Map<String, String> one, Map<String, String> other) {
      Map<String, String> both = new HashMap<>(one);
      both.putAll(other);
      return both;
    }
  }
}
