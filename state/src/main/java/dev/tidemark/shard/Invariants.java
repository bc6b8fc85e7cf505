package dev.tidemark.shard;

import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.Spine;
import dev.tidemark.time.Frontier;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is true of every version of a shard, and of every step from one to the next. Checked before
 * each write and after each read; each throws CorruptShardException that names the shard, the
 * version and what contradicts what.
 */
public final class Invariants {
  private Invariants() {}

  // ---- Of a version

  /** All that must hold of one version. */
  public static void check(ShardState state) {
    if (state.exists()) {
      batchesTile(state);
      levelsFall(state);
      frontiersAreInOrder(state);
      partsAreNamedOnce(state);
      batchesAreConsistent(state);
    }
  }

  /** The batches tile from the minimum to the upper, without gap or overlap. */
  public static void batchesTile(ShardState state) {
    Frontier end = Frontier.MINIMUM;
    for (Batch batch : state.batches()) {
      if (!batch.bounds().lower().equals(end)) {
        throw broken(state, "batch " + named(batch) + " should begin at " + end);
      }
      end = batch.bounds().upper();
    }
    if (!end.equals(state.upper())) {
      throw broken(state, "the batches end at " + end + ", the upper is " + state.upper());
    }
  }

  /**
   * Levels never increase from old to new. The inputs of a consolidation count in no level, so they
   * are in order among themselves, and the rest is.
   */
  public static void levelsFall(ShardState state) {
    int split = state.spine().consolidating().size();
    Batch before = null;
    for (int i = 0; i < state.batches().size(); i++) {
      Batch batch = state.batches().get(i);
      if (batch.level() < 0) {
        throw broken(state, "batch " + named(batch) + " has level " + batch.level());
      }
      if (before != null && i != split && batch.level() > before.level()) {
        throw broken(
            state,
            "batch "
                + named(batch)
                + " of level "
                + batch.level()
                + " is behind one of level "
                + before.level());
      }
      before = batch;
    }
  }

  /** The since isn't past the upper, no batch's since past the shard's. */
  public static void frontiersAreInOrder(ShardState state) {
    if (state.since().isAfter(state.upper())) {
      throw broken(state, "since " + state.since() + " is past the upper " + state.upper());
    }
    for (Batch batch : state.batches()) {
      if (batch.since().isAfter(state.since())) {
        throw broken(
            state,
            "batch "
                + named(batch)
                + " was merged with since "
                + batch.since()
                + ", past the shard's, "
                + state.since());
      }
    }
    Frontier consolidating = state.consolidating();
    if (consolidating != null && consolidating.isAfter(state.upper())) {
      throw broken(state, "consolidating up to " + consolidating + ", past the upper");
    }
    for (Fact.WriterFact writer : state.writers().values()) {
      if (writer.upto().isAfter(state.upper())) {
        throw broken(state, "writer " + writer.id() + " is up to " + writer.upto());
      }
    }
  }

  /** No part is named twice. */
  public static void partsAreNamedOnce(ShardState state) {
    partsAreNamedOnce(state, state.batches(), PartNames.none());
  }

  private static void partsAreNamedOnce(ShardState state, List<Batch> batches, PartNames names) {
    for (Batch batch : batches) {
      String fault = names.faultOf(batch, null, PartNames.none());
      if (fault != null) {
        throw broken(state, "batch " + named(batch) + ": " + fault);
      }
    }
  }

  /** Each batch's counts are those of its parts, its schema is there. */
  public static void batchesAreConsistent(ShardState state) {
    batchesAreConsistent(state, state.batches());
  }

  private static void batchesAreConsistent(ShardState state, List<Batch> batches) {
    for (Batch batch : batches) {
      String fault = batchFault(batch);
      if (fault != null) {
        throw broken(state, "batch " + named(batch) + ": " + fault);
      }
      if (!state.hasSchema(batch.schema())) {
        throw broken(state, "batch " + named(batch) + ": no schema " + batch.schema());
      }
    }
  }

  /**
   * What is wrong with a batch by itself, null when nothing is. The figures of a cut batch are
   * upper bounds, and the sum of its diffs is unknown; error parts count in none of them.
   */
  static @Nullable String batchFault(Batch batch) {
    long rows = 0;
    long bytes = 0;
    long retracted = 0;
    long sum = 0;
    long maxTime = Long.MIN_VALUE;
    for (List<Part> run : batch.runs()) {
      if (run.isEmpty()) {
        return "a run has no parts";
      }
      for (Part part : run) {
        rows += part.rows();
        bytes += part.bytes();
        retracted += part.retracted();
        sum += part.sum();
        maxTime = Math.max(maxTime, part.maxTime());
      }
    }
    if (batch.rows() < 0 || batch.bytes() < 0 || batch.retracted() < 0) {
      return "a count is negative";
    }
    if (batch.cut()) {
      return batch.sum().isPresent() ? "it is cut, so its sum can't be known" : null;
    }
    if (batch.rows() != rows || batch.bytes() != bytes || batch.retracted() != retracted) {
      return "it has "
          + batch.rows()
          + " rows, "
          + batch.bytes()
          + " bytes, "
          + batch.retracted()
          + " retracted; its parts "
          + rows
          + ", "
          + bytes
          + ", "
          + retracted;
    }
    if (batch.sum().isEmpty() || batch.sum().getAsLong() != sum) {
      return "its diffs don't sum up to those of its parts, " + sum;
    }
    if (batch.maxTime() != maxTime) {
      return "its greatest time is " + batch.maxTime() + ", that of its parts " + maxTime;
    }
    // Rows lie below the upper, but for those that a merge advanced to its since.
    boolean past = maxTime >= batch.bounds().upper().time() && maxTime > batch.since().time();
    return past ? "its greatest time " + maxTime + " isn't below its upper" : null;
  }

  // ---- Of a step

  /**
   * All that must hold of the step from one version to the next, and of the latter. What is true of
   * a batch by itself is checked of those that the step brought in: the others were checked before.
   * So it costs little even where batches are many; {@link #check} finds no more, only slower.
   *
   * @param before a state that was checked
   * @param after the state that is to follow
   */
  public static void checkTransition(ShardState before, ShardState after) {
    if (!after.seqno().equals(before.seqno().next())) {
      throw broken(after, "it doesn't follow version " + before.seqno());
    }
    if (!before.exists()) {
      check(after);
      return;
    }
    if (!after.exists() || !after.shard().equals(before.shard())) {
      throw broken(after, "shard " + before.shard() + " was here before");
    }
    Step step = Step.of(before.batches(), after.batches());
    batchesTile(after);
    levelsFall(after);
    frontiersAreInOrder(after);
    partsAreNamedOnce(
        after, step.entered(), PartNames.shared(step.first(), step.last(), step.entered()));
    boolean sameSchemas = after.sameSchemas(before);
    batchesAreConsistent(after, sameSchemas ? step.entered() : after.batches());
    frontiersNeverGoBack(before, after);
    levelsKeepTheirBound(before, after);
    newBatchesAreAllowed(before, after, step);
  }

  /**
   * What a step does to the batches, told by where their lists differ. A batch that stayed is the
   * same object; all that changed lies between the first and the last that didn't stay.
   *
   * @param first the batches before that stretch
   * @param last the batches behind it
   * @param left the stretch as it was
   * @param entered the stretch as it is
   */
  private record Step(List<Batch> first, List<Batch> last, List<Batch> left, List<Batch> entered) {
    static Step of(List<Batch> before, List<Batch> after) {
      int most = Math.min(before.size(), after.size());
      int head = 0;
      while (head < most && same(before.get(head), after.get(head))) {
        head++;
      }
      int tail = 0;
      while (tail < most - head
          && same(before.get(before.size() - 1 - tail), after.get(after.size() - 1 - tail))) {
        tail++;
      }
      return new Step(
          after.subList(0, head),
          after.subList(after.size() - tail, after.size()),
          before.subList(head, before.size() - tail),
          after.subList(head, after.size() - tail));
    }

    /** By identity, which is enough: a batch that only equals another is checked once more. */
    @SuppressWarnings("ReferenceEquality")
    private static boolean same(Batch one, Batch other) {
      return one == other;
    }
  }

  /** Upper, since, swept and each writer's upto never go back; no writer is forgotten. */
  public static void frontiersNeverGoBack(ShardState before, ShardState after) {
    if (after.upper().isBefore(before.upper())) {
      throw broken(after, "upper goes back from " + before.upper() + " to " + after.upper());
    }
    if (after.since().isBefore(before.since())) {
      throw broken(after, "since goes back from " + before.since() + " to " + after.since());
    }
    String swept = before.swept();
    String sweptAfter = after.swept();
    if (swept != null && (sweptAfter == null || sweptAfter.compareTo(swept) < 0)) {
      throw broken(after, "swept goes back from " + swept + " to " + sweptAfter);
    }
    for (Fact.WriterFact writer : before.writers().values()) {
      Fact.WriterFact now = after.writers().get(writer.id());
      if (now == null || now.upto().isBefore(writer.upto())) {
        throw broken(after, "writer " + writer.id() + " goes back from " + writer.upto());
      }
    }
  }

  /** Rules 1 and 5: no level counts more than K, or than it did. */
  public static void levelsKeepTheirBound(ShardState before, ShardState after) {
    Spine was = before.spine();
    Spine is = after.spine();
    for (int level : is.levels()) {
      if (is.count(level) > Math.max(after.spec().queue(), was.count(level))) {
        throw broken(
            after,
            "level "
                + level
                + " counts "
                + is.count(level)
                + " runs, more than "
                + after.spec().queue());
      }
    }
  }

  /**
   * A new batch has at most N/2 runs, or those of one that left; its new parts are of a day that
   * wasn't swept; one that stays may change its level and its upper, nothing else.
   */
  private static void newBatchesAreAllowed(ShardState before, ShardState after, Step step) {
    Map<String, Batch> old = new HashMap<>();
    step.left().forEach(batch -> old.put(batch.id(), batch));
    PartNames known = PartNames.of(step.left());
    for (Batch batch : step.entered()) {
      Batch was = old.get(batch.id());
      if (was == null) {
        if (batch.runCount() > before.spec().freshRuns() && !renamed(before, batch)) {
          throw broken(after, "new batch " + named(batch) + " has " + batch.runCount() + " runs");
        }
        String fault = PartNames.none().faultOf(batch, before.swept(), known);
        if (fault != null) {
          throw broken(after, "new batch " + named(batch) + ": " + fault);
        }
      } else if (!was.equals(batch)
          && !was.withBounds(batch.bounds()).atLevel(batch.level()).equals(batch)) {
        throw broken(after, "batch " + named(batch) + " changed its contents");
      }
    }
  }

  /** Whether a batch is one that was there, without some of its error parts. */
  private static boolean renamed(ShardState before, Batch batch) {
    return before.batches().stream()
        .anyMatch(
            old ->
                old.bounds().lower().equals(batch.bounds().lower())
                    && old.runs().equals(batch.runs()));
  }

  private static CorruptShardException broken(ShardState state, String what) {
    return new CorruptShardException(state + ": " + what);
  }

  private static String named(Batch batch) {
    return batch.id() + " " + batch.bounds();
  }
}
