package dev.tidemark.shard;

import dev.tidemark.shard.Command.Append;
import dev.tidemark.shard.Decision.Commit;
import dev.tidemark.shard.Decision.Nothing;
import dev.tidemark.shard.Decision.Refusal;
import dev.tidemark.shard.Decision.Refusal.Fenced;
import dev.tidemark.shard.Decision.Refusal.Invalid;
import dev.tidemark.shard.Decision.Refusal.SpineFull;
import dev.tidemark.shard.Decision.Refusal.TooManyRuns;
import dev.tidemark.shard.Decision.Refusal.UpperMismatch;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Spine;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.spine.Written;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How an append is decided: what this writer has done already is dropped, first, as the spec may
 * have changed since; what contradicts itself is invalid; what was cut by another spec into more
 * runs than this one allows is to be cut anew, which is never refused for good; the rest must begin
 * at the shard's upper; of that the longest prefix that fits level 0 is admitted.
 */
final class Appending {
  private Appending() {}

  static Decision decide(ShardState state, Append command) {
    Fact.WriterFact writer = state.writers().get(command.by().writer());
    List<Batch> wanted = notDone(command.batches(), writer);
    if (wanted.isEmpty()) {
      return new Nothing("all of it was appended before");
    }
    Refusal refusal = contradiction(state.spec(), wanted);
    if (refusal == null) {
      refusal = fenced(command.by(), writer);
    }
    if (refusal == null) {
      refusal = misplaced(state, wanted);
    }
    return refusal != null ? refusal : admit(state, command.by(), writer, wanted);
  }

  /** What is wrong with the batches whatever the shard's contents. */
  private static @Nullable Refusal contradiction(SpineSpec spec, List<Batch> batches) {
    Set<String> ids = new HashSet<>();
    Batch previous = null;
    for (Batch batch : batches) {
      BatchDescription bounds = batch.bounds();
      if (previous != null && !previous.bounds().upper().equals(bounds.lower())) {
        return new Invalid(
            named(batch) + " doesn't begin where " + named(previous) + " before it ends");
      }
      if (batch.runCount() > spec.freshRuns()) {
        return new TooManyRuns(
            batch.runCount(),
            spec.freshRuns(),
            named(batch)
                + " has "
                + batch.runCount()
                + " runs: a fresh batch may have at most "
                + spec.freshRuns()
                + ": merge some of them, and append it again");
      }
      if (batch.level() != 0 || !batch.since().isMinimum()) {
        return new Invalid(named(batch) + " isn't fresh: its level must be 0, its since min");
      }
      if (!ids.add(batch.id())) {
        return new Invalid(named(batch) + " is there twice");
      }
      String fault = Invariants.batchFault(batch);
      if (fault != null) {
        return new Invalid(named(batch) + ": " + fault);
      }
      previous = batch;
    }
    return null;
  }

  private static List<Batch> notDone(List<Batch> batches, Fact.@Nullable WriterFact writer) {
    if (writer == null) {
      return batches;
    }
    Frontier upto = writer.upto();
    return batches.stream().filter(batch -> batch.bounds().upper().isAfter(upto)).toList();
  }

  private static @Nullable Refusal fenced(WriterAttempt by, Fact.@Nullable WriterFact writer) {
    if (writer == null) {
      return null;
    }
    WriterAttempt known = writer.by();
    if (by.isOlderThan(known)) {
      return new Fenced(
          "writer "
              + by.writer()
              + ": attempt "
              + by.attempt()
              + " on "
              + by.host()
              + " of "
              + by.started()
              + " was followed by attempt "
              + known.attempt()
              + " on "
              + known.host()
              + " of "
              + known.started()
              + ": stop the older job");
    }
    if (writer.readOnly()) {
      return new Fenced("writer " + by.writer() + " is read-only here: hand the shard over to it");
    }
    return null;
  }

  /** What is wrong with where the batches would come to lie. */
  private static @Nullable Refusal misplaced(ShardState state, List<Batch> batches) {
    Batch first = batches.get(0);
    if (!first.bounds().lower().equals(state.upper())) {
      return new UpperMismatch(
          state.upper(),
          named(first)
              + " must begin at the shard's upper, which is "
              + state.upper()
              + (state.upper().isEnd() ? ": the shard is sealed" : ""));
    }
    PartNames names = PartNames.shared(state.batches(), batches);
    Set<String> wanted = new HashSet<>();
    batches.forEach(batch -> wanted.add(batch.id()));
    Set<String> ids = new HashSet<>();
    for (Batch batch : state.batches()) {
      if (wanted.contains(batch.id())) {
        ids.add(batch.id());
      }
    }
    for (Batch batch : batches) {
      if (!ids.add(batch.id())) {
        return new Invalid(named(batch) + ": the shard has a batch of that id");
      }
      if (!state.hasSchema(batch.schema())) {
        return new Invalid(named(batch) + ": the shard has no schema " + batch.schema());
      }
      Refusal swept = PartNames.none().sweptOf(batch, state.swept());
      if (swept != null) {
        return swept;
      }
      String fault = names.faultOf(batch, null, PartNames.none());
      if (fault != null) {
        return new Invalid(named(batch) + ": " + fault);
      }
    }
    return null;
  }

  private static Decision admit(
      ShardState state, WriterAttempt by, Fact.@Nullable WriterFact writer, List<Batch> wanted) {
    List<Batch> old = state.batches();
    Batch before = old.isEmpty() ? null : old.get(old.size() - 1);
    List<Batch> tail = new ArrayList<>();
    if (before != null) {
      tail.add(before);
    }
    int queue = state.spec().queue();
    int runs = state.spine().count(0);
    int admitted = 0;
    for (Batch batch : wanted) {
      if (isEmpty(batch) && !tail.isEmpty() && mayExtend(tail.get(tail.size() - 1))) {
        Batch newest = tail.get(tail.size() - 1);
        tail.set(tail.size() - 1, extended(newest, batch.bounds().upper()));
      } else if (runs + Spine.weight(batch) <= queue) {
        runs += Spine.weight(batch);
        tail.add(batch);
      } else {
        break;
      }
      admitted++;
    }
    if (admitted == 0) {
      return new SpineFull(
          runs,
          queue,
          "level 0 counts " + runs + " of at most " + queue + " runs: wait until some are merged");
    }
    return commit(state, before, tail, new Upto(by, writer), admitted, wanted);
  }

  /** Who appends, and what is known of it. */
  private record Upto(WriterAttempt by, Fact.@Nullable WriterFact before) {
    Map<String, String> extra() {
      return before == null ? Map.of() : before.extra();
    }
  }

  private static Decision commit(
      ShardState state,
      @Nullable Batch before,
      List<Batch> tail,
      Upto upto,
      int admitted,
      List<Batch> wanted) {
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    Frontier upper = wanted.get(admitted - 1).bounds().upper();
    remove.add(new Fact.UpperFact(state.upper()));
    add.add(new Fact.UpperFact(upper));
    if (upto.before() != null) {
      remove.add(upto.before());
    }
    add.add(new Fact.WriterFact(upto.by(), upper, false, upto.extra()));
    List<Batch> fresh = new ArrayList<>();
    for (Batch batch : tail) {
      if (!batch.equals(before)) {
        add.add(new Fact.BatchFact(batch));
      }
      if (before == null || !batch.id().equals(before.id())) {
        fresh.add(batch);
      }
    }
    state.recount(written -> appended(written, fresh), remove, add);
    if (before != null && !tail.get(0).equals(before)) {
      remove.add(new Fact.BatchFact(before));
    }
    return new Commit(new Diff(remove, add), admitted);
  }

  private static Written appended(Written before, List<Batch> fresh) {
    Written written = before;
    for (Batch batch : fresh) {
      written = written.append(batch);
    }
    return written;
  }

  static Batch extended(Batch batch, Frontier upper) {
    return batch.withBounds(new BatchDescription(batch.bounds().lower(), upper));
  }

  /**
   * Whether a later upper leaves a batch's contents: not where its upper cuts rows or errors off.
   */
  static boolean mayExtend(Batch batch) {
    long upper = batch.bounds().upper().time();
    return !batch.cut()
        || (batch.maxTime() < upper
            && batch.errors().stream().allMatch(part -> part.maxTime() < upper));
  }

  private static boolean isEmpty(Batch batch) {
    return batch.runs().isEmpty() && batch.errors().isEmpty();
  }

  private static String named(Batch batch) {
    return "batch " + batch.id() + " " + batch.bounds();
  }
}
