package dev.tidemark.flink;

import dev.tidemark.flink.message.MergeTask;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The chunks of a shard's merges that install has, for the spine of the same process: it asks for
 * the others only, and gives a plan time as long as chunks of it arrive. Where the two are in
 * different processes it stays empty, and costs work done twice. Thread-safe.
 */
public final class MergeProgress {
  private record Plan(MergeTask first, Set<Integer> finished, long lastMillis) {}

  private final Map<String, Plan> plans = new HashMap<>();

  /** Notes a chunk that is done. */
  public synchronized void finished(MergeTask task, long nowMillis) {
    Plan known = plans.get(task.plan());
    Set<Integer> finished = new HashSet<>(known == null ? Set.of() : known.finished);
    finished.add(task.chunk());
    plans.put(task.plan(), new Plan(known == null ? task : known.first, finished, nowMillis));
  }

  /** Forgets a plan: it is installed, or can't be. */
  public synchronized void forget(String plan) {
    plans.remove(plan);
  }

  /** Whether a chunk is done. */
  public synchronized boolean isFinished(MergeTask task) {
    Plan plan = plans.get(task.plan());
    return plan != null && plan.finished.contains(task.chunk());
  }

  /** When the last chunk of a plan was done; {@code Long.MIN_VALUE} when none is. */
  public synchronized long lastFinishedMillis(String plan) {
    Plan known = plans.get(plan);
    return known == null ? Long.MIN_VALUE : known.lastMillis;
  }

  /** A chunk that is done of the same merge, planned earlier. */
  public synchronized Optional<MergeTask> begun(MergeTask wanted) {
    return plans.values().stream()
        .map(Plan::first)
        .filter(first -> first.isOfSameInputs(wanted))
        .findFirst();
  }
}
