package dev.tidemark.spine;

import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A shard's batches seen as a spine: which lie in which level, what the levels count, what is
 * garbage. Both the planner and the state machine look through it, so that they count alike.
 *
 * <p>While a consolidation is under way the batches below its upper count in no level, and the rest
 * is a spine that begins after them.
 */
public final class Spine {
  private final List<Batch> consolidating;
  private final NavigableMap<Integer, List<Batch>> levels = new TreeMap<>();
  private final NavigableMap<Integer, Integer> counts = new TreeMap<>();

  private Spine(List<Batch> consolidating, List<Batch> counted) {
    this.consolidating = consolidating;
    // Levels lie one behind the other, so a level is looked up once a stretch, not once a batch.
    int level = -1;
    List<Batch> batches = new ArrayList<>();
    for (Batch batch : counted) {
      if (batch.level() != level || batches.isEmpty()) {
        level = batch.level();
        batches = levels.computeIfAbsent(level, any -> new ArrayList<>());
      }
      batches.add(batch);
    }
    levels.forEach((each, those) -> counts.put(each, weight(those)));
  }

  /**
   * The spine of these batches.
   *
   * @param batches all batches, oldest first
   * @param consolidating the upper of the consolidation under way, null when none is
   */
  public static Spine of(List<Batch> batches, @Nullable Frontier consolidating) {
    int split = 0;
    while (consolidating != null
        && split < batches.size()
        && isConsolidating(batches.get(split), consolidating)) {
      split++;
    }
    return new Spine(batches.subList(0, split), batches.subList(split, batches.size()));
  }

  /**
   * Whether a batch is an input of the consolidation. By its lower: an empty batch may have moved
   * the upper of the last input since the consolidation was announced.
   */
  public static boolean isConsolidating(Batch batch, @Nullable Frontier consolidating) {
    return consolidating != null && batch.bounds().lower().isBefore(consolidating);
  }

  /**
   * What a batch counts in its level: its runs. One that holds error rows only counts as one run,
   * so that these too are merged and bounded in number.
   */
  public static int weight(Batch batch) {
    return batch.runCount() == 0 && !batch.errors().isEmpty() ? 1 : batch.runCount();
  }

  /** What some batches count together. */
  public static int weight(List<Batch> batches) {
    int sum = 0;
    for (Batch batch : batches) {
      sum += weight(batch);
    }
    return sum;
  }

  /** Bytes that may vanish: a retraction cancels an equal row, so twice what is retracted. */
  public static long garbage(Batch batch) {
    return 2 * batch.retracted();
  }

  /**
   * Whether what garbage a batch has left has nothing to cancel in it: one run, all of whose rows
   * are at or before the since it was merged with.
   */
  public static boolean isSettled(Batch batch) {
    return batch.runCount() <= 1 && batch.maxTime() <= batch.since().time() && !batch.cut();
  }

  /**
   * Rule 4: whether writing the oldest batches anew is paid for by the garbage that goes.
   *
   * @param oldest the oldest batches of the shard, oldest first
   */
  public static boolean pays(SpineSpec spec, List<Batch> oldest) {
    double bytes = 0;
    double garbage = 0;
    for (int i = 0; i < oldest.size(); i++) {
      bytes += oldest.get(i).bytes();
      garbage += mayGo(oldest.get(i), i);
    }
    return pays(spec, bytes, garbage);
  }

  /** Rule 4, on sums. */
  static boolean pays(SpineSpec spec, double bytes, double garbage) {
    return bytes >= (double) spec.baseBytes() * spec.fanIn()
        && garbage > spec.garbageShare() * bytes;
  }

  /** The garbage of the batch at an index that has something to cancel. */
  static double mayGo(Batch batch, int index) {
    return index == 0 && isSettled(batch) ? 0 : garbage(batch);
  }

  /** The inputs of the consolidation under way, oldest first. */
  public List<Batch> consolidating() {
    return consolidating;
  }

  /** The levels in use, lowest first. */
  public List<Integer> levels() {
    return List.copyOf(levels.keySet());
  }

  /** The batches of a level, oldest first. */
  public List<Batch> level(int level) {
    return levels.getOrDefault(level, List.of());
  }

  /** What a level counts. */
  public int count(int level) {
    return counts.getOrDefault(level, 0);
  }

  /** What all levels count. */
  public int count() {
    int sum = 0;
    for (int count : counts.values()) {
      sum += count;
    }
    return sum;
  }

  /** Whether a fresh batch of as many runs as it may have would be refused. */
  public boolean mayRefuse(SpineSpec spec) {
    return count(0) + spec.freshRuns() > spec.queue();
  }

  /** The runs that a reader merges, those of a consolidation under way included. */
  public int runs() {
    return count() + weight(consolidating);
  }

  /** The highest level in use, that of the inputs of a consolidation included; 0 when empty. */
  public int highest() {
    int highest = levels.isEmpty() ? 0 : levels.lastKey();
    for (Batch batch : consolidating) {
      highest = Math.max(highest, batch.level());
    }
    return highest;
  }
}
