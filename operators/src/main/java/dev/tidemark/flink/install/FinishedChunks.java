package dev.tidemark.flink.install;

import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The finished chunks of merges, by plan, until all of a plan are there and installed. */
final class FinishedChunks {
  private final Map<String, TreeMap<Integer, MergedChunk>> plans = new LinkedHashMap<>();

  private static String id(MergeTask task) {
    return task.shard() + ":" + task.plan();
  }

  /** Adds a chunk unless it is there; all chunks of its plan when it was the last one missing. */
  @Nullable List<MergedChunk> add(MergedChunk chunk) {
    MergeTask task = chunk.task();
    TreeMap<Integer, MergedChunk> plan =
        plans.computeIfAbsent(id(task), missing -> new TreeMap<>());
    boolean added = plan.putIfAbsent(task.chunk(), chunk) == null;
    return added && plan.size() == task.chunks() ? List.copyOf(plan.values()) : null;
  }

  /** Forgets a plan. */
  void remove(MergeTask task) {
    plans.remove(id(task));
  }

  /** Forgets the plans of a shard that have an input which isn't there; a task of each. */
  List<MergeTask> removeStale(int shard, Set<String> batches) {
    List<MergeTask> stale = new ArrayList<>();
    for (TreeMap<Integer, MergedChunk> plan : List.copyOf(plans.values())) {
      MergeTask task = plan.firstEntry().getValue().task();
      if (task.shard() == shard && !batches.containsAll(task.inputs())) {
        remove(task);
        stale.add(task);
      }
    }
    return stale;
  }

  /** All chunks, for a snapshot. */
  List<MergedChunk> all() {
    List<MergedChunk> all = new ArrayList<>();
    plans.values().forEach(plan -> all.addAll(plan.values()));
    return all;
  }
}
