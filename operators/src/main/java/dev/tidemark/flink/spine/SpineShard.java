package dev.tidemark.flink.spine;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What spine keeps of one of its shards between looks: what it has asked for and has not seen done,
 * lest it ask for it at each look.
 */
final class SpineShard {
  /** What install does at once; after this long it is asked for again. */
  private static final long PROMOTION_MILLIS = 5_000;

  private static final long SINCE_MILLIS = 2_000;

  final int index;
  final ShardHandle handle;
  private final SinceRule sinceRule;
  private final Map<String, AskedPromotion> promotions = new HashMap<>();
  private final List<AskedMerge> merges = new ArrayList<>();
  private @Nullable Frontier askedSince;
  private @Nullable Frontier askedConsolidation;
  private long askedSinceMillis;

  /** The version that it was looked at last. */
  SeqNo looked = SeqNo.ZERO;

  /** The newest version that it was told of: a read that was under way then may lack it. */
  SeqNo committed = SeqNo.ZERO;

  /** Whether there is work, or may be. */
  boolean busy;

  /** Whether its log is being read. */
  boolean reading;

  /**
   * That a promotion was asked for a batch.
   *
   * @param level its level then: once it has another it is done
   * @param deadline when to ask again, in the clock's milliseconds
   */
  private record AskedPromotion(int level, long deadline) {
    boolean isOver(@Nullable Batch batch, long now) {
      return batch == null || batch.level() != level || deadline <= now;
    }
  }

  /** One that nothing was asked for. */
  SpineShard(int index, ShardHandle handle, boolean busy) {
    this.index = index;
    this.handle = handle;
    this.sinceRule = new SinceRule(handle.target().retain());
    this.busy = busy;
  }

  String name() {
    return handle.target().name();
  }

  /** Forgets what is over where these batches are there, by id. */
  void forgetOver(Map<String, Batch> batches, long now) {
    promotions
        .entrySet()
        .removeIf(entry -> entry.getValue().isOver(batches.get(entry.getKey()), now));
    merges.removeIf(merge -> merge.isOver(batches));
  }

  /** The ids of the batches that something was asked for. */
  Set<String> inMerge() {
    Set<String> ids = new HashSet<>(promotions.keySet());
    merges.forEach(merge -> ids.addAll(merge.ids()));
    return ids;
  }

  /** The merges to ask for once more. */
  List<AskedMerge> overdue(long now) {
    return merges.stream()
        .filter(merge -> merge.isOverdue(now, handle.progress().lastFinishedMillis(merge.plan())))
        .toList();
  }

  void ask(MergePlan.Promote promote, long now) {
    promotions.put(
        promote.batch(), new AskedPromotion(promote.fromLevel(), now + PROMOTION_MILLIS));
  }

  void ask(AskedMerge merge) {
    merges.add(merge);
  }

  /** Whether a merge is still waited for. */
  boolean isAsked(AskedMerge merge) {
    return merges.contains(merge);
  }

  /** Whether to ask for a consolidation up to a frontier: once, and again when it didn't help. */
  boolean askConsolidation(Frontier upper) {
    boolean asks = !upper.equals(askedConsolidation);
    askedConsolidation = asks ? upper : null;
    return asks;
  }

  /** Where to ask since to go; null: nowhere now. */
  @Nullable Frontier askSince(ShardState state, boolean mergeWanted, long now) {
    if (askedSince != null) {
      boolean overdue = now - askedSinceMillis > SINCE_MILLIS;
      if (overdue || !state.since().isBefore(askedSince)) {
        askedSince = null;
      }
      return null;
    }
    Frontier next =
        sinceRule.next(state.since(), state.upper(), mergeWanted, now - askedSinceMillis);
    if (next != null) {
      askedSince = next;
      askedSinceMillis = now;
    }
    return next;
  }

  /** Whether since is about to move: merges had better wait for that. */
  boolean awaitsSince() {
    return askedSince != null;
  }

  /** Says what a look has found. */
  void looked(ShardState state, boolean wanted) {
    busy =
        wanted
            || !promotions.isEmpty()
            || !merges.isEmpty()
            || state.consolidating() != null
            || state.seqno().compareTo(committed) < 0
            // Then no commit tells that merging was switched on.
            || state.spine().mayRefuse(state.spec());
  }
}
