package dev.tidemark.spine;

import dev.tidemark.spine.MergePlan.Consolidate;
import dev.tidemark.spine.MergePlan.Merge;
import dev.tidemark.spine.MergePlan.Promote;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides which batches are merged next: the rules of docs/spec.md, as a pure function of the
 * shard's facts and the ids of batches in a merge. Without clock and memory: asked again on the
 * same facts it says the same, and any version of it goes on from any state under any spec.
 *
 * <p>Plans never overlap: each batch is in at most one of them. A level that has no room for what a
 * level below wants to put there counts at least N, so it is due itself and its own plan makes that
 * room; above the highest level there always is room. So there is no deadlock.
 */
public final class SpinePlanner {
  private final SpineSpec spec;
  private final Spine spine;
  private final Frontier since;
  private final Set<String> inMerge;

  private SpinePlanner(SpineSpec spec, Spine spine, Frontier since, Set<String> inMerge) {
    this.spec = spec;
    this.spine = spine;
    this.since = since;
    this.inMerge = inMerge;
  }

  /**
   * What should be done now: promotions, then merges, each lowest level first, then a
   * consolidation. Once some of it is done, ask again. A consolidation that was announced and whose
   * inputs aren't in a merge is planned again. A retired shard (since is the end) wants nothing.
   *
   * @param spec the shard's spec
   * @param batches all batches, oldest first
   * @param since the shard's since
   * @param consolidating the upper of the consolidation under way, null when none is
   * @param inMerge the ids of the batches that a merge under way has as inputs
   */
  public static List<MergePlan> plan(
      SpineSpec spec,
      List<Batch> batches,
      Frontier since,
      @Nullable Frontier consolidating,
      Set<String> inMerge) {
    if (!spec.merging() || since.isEnd()) {
      return List.of();
    }
    Spine spine = Spine.of(batches, consolidating);
    SpinePlanner planner = new SpinePlanner(spec, spine, since, inMerge);
    List<MergePlan> levels = planner.levels(consolidating);
    List<MergePlan> plans = new ArrayList<>(levels.size() + 1);
    levels.stream().filter(Promote.class::isInstance).forEach(plans::add);
    levels.stream().filter(Merge.class::isInstance).forEach(plans::add);
    Consolidate consolidate =
        consolidating == null
            ? planner.wantedConsolidation(batches, plans)
            : planner.announcedConsolidation(consolidating);
    if (consolidate != null) {
      plans.add(consolidate);
    }
    return List.copyOf(plans);
  }

  private List<MergePlan> levels(@Nullable Frontier consolidating) {
    List<MergePlan> plans = new ArrayList<>();
    boolean quiet = inMerge.isEmpty() && consolidating == null;
    boolean rests = !quiet || spine.count() <= spec.rest();
    for (int level : spine.levels()) {
      boolean due = spine.count(level) >= spec.fanIn() || !rests;
      rests = true; // Rule 6 is about the lowest level only.
      MergePlan plan = level(level, due);
      if (plan != null) {
        plans.add(plan);
      }
    }
    return plans;
  }

  /** Rules 2 and 3 for one level, and what is said of cut batches. */
  private @Nullable MergePlan level(int level, boolean due) {
    List<Batch> batches = spine.level(level);
    Batch oldest = batches.get(0);
    int cut = firstCut(batches);
    if (isInMerge(oldest) || (!due && cut < 0)) {
      return null;
    }
    if (cut < 0 && isBig(oldest, level) && fitsAboveALevelThatIsNotDue(oldest)) {
      return promote(oldest, level);
    }
    if (batches.stream().anyMatch(this::isInMerge)) {
      return null;
    }
    List<Batch> inputs = cut < 0 ? upToFanIn(batches, level) : batches.subList(0, cut + 1);
    if (cut < 0 && inputs.size() == 1 && Spine.weight(inputs) <= 1) {
      return promote(oldest, level);
    }
    return hasRoom(level + 1, 1) ? new Merge(level, ids(inputs), since) : null;
  }

  private @Nullable MergePlan promote(Batch batch, int level) {
    return hasRoom(level + 1, Spine.weight(batch)) ? new Promote(batch.id(), level) : null;
  }

  /**
   * Whether a batch, promoted as it is, waits for room only above a level that is due. Under the
   * spec that it was appended under it always does, with at most N/2 runs; under a later spec with
   * a smaller queue it may not, and is merged instead.
   */
  private boolean fitsAboveALevelThatIsNotDue(Batch batch) {
    return Spine.weight(batch) <= spec.queue() - (spec.fanIn() - 1);
  }

  private boolean hasRoom(int level, int weight) {
    return weight == 0 || spine.count(level) + weight <= spec.queue();
  }

  /** From the oldest on until they make up N runs, stopping before one that belongs higher. */
  private List<Batch> upToFanIn(List<Batch> batches, int level) {
    int end = 0;
    int runs = 0;
    while (end < batches.size()
        && runs < spec.fanIn()
        && (end == 0 || !isBig(batches.get(end), level))) {
      runs += Spine.weight(batches.get(end));
      end++;
    }
    return batches.subList(0, end);
  }

  /**
   * Rule 4: the fewest of the oldest batches whose garbage pays for writing them anew.
   *
   * @param plans what is planned already; its batches count as being in a merge
   */
  private @Nullable Consolidate wantedConsolidation(List<Batch> batches, List<MergePlan> plans) {
    Set<String> taken = taken(plans);
    double garbage = 0;
    double bytes = 0;
    for (int i = 0; i < batches.size(); i++) {
      Batch batch = batches.get(i);
      boolean past = batch.maxTime() > since.time();
      if (past || isInMerge(batch) || taken.contains(batch.id())) {
        return null;
      }
      bytes += batch.bytes();
      garbage += Spine.mayGo(batch, i);
      if (Spine.pays(spec, bytes, garbage)) {
        return new Consolidate(ids(batches.subList(0, i + 1)), batch.bounds().upper(), since);
      }
    }
    return null;
  }

  private @Nullable Consolidate announcedConsolidation(Frontier upper) {
    List<Batch> inputs = spine.consolidating();
    boolean waits = inputs.isEmpty() || inputs.stream().anyMatch(this::isInMerge);
    return waits ? null : new Consolidate(ids(inputs), upper, since);
  }

  private static Set<String> taken(List<MergePlan> plans) {
    Set<String> taken = new HashSet<>();
    for (MergePlan plan : plans) {
      if (plan instanceof Merge merge) {
        taken.addAll(merge.inputs());
      } else if (plan instanceof Promote promote) {
        taken.add(promote.batch());
      }
    }
    return taken;
  }

  private static int firstCut(List<Batch> batches) {
    for (int i = 0; i < batches.size(); i++) {
      if (batches.get(i).cut()) {
        return i;
      }
    }
    return -1;
  }

  private boolean isBig(Batch batch, int level) {
    return spec.naturalLevel(batch.bytes()) > level;
  }

  private boolean isInMerge(Batch batch) {
    return inMerge.contains(batch.id());
  }

  private static List<String> ids(List<Batch> batches) {
    return batches.stream().map(Batch::id).toList();
  }
}
