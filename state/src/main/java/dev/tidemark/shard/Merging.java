package dev.tidemark.shard;

import dev.tidemark.shard.Command.BeginConsolidation;
import dev.tidemark.shard.Command.ForceConsolidation;
import dev.tidemark.shard.Command.InstallMerge;
import dev.tidemark.shard.Command.PromoteLevel;
import dev.tidemark.shard.Decision.Nothing;
import dev.tidemark.shard.Decision.Refusal;
import dev.tidemark.shard.Decision.Refusal.Invalid;
import dev.tidemark.shard.Decision.Refusal.LevelFull;
import dev.tidemark.shard.Decision.Refusal.Stale;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Spine;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How changes of the spine are decided: rules 2 to 5 and 7 from the state's side. Merges are fenced
 * by the ids of their inputs: the same merge installed twice changes nothing the second time, one
 * whose inputs went elsewhere is stale.
 */
final class Merging {
  private Merging() {}

  // ---- Install

  static Decision install(ShardState state, InstallMerge command) {
    List<String> ids = command.inputs();
    if (ids.isEmpty() || new HashSet<>(ids).size() < ids.size()) {
      return new Invalid("a merge needs inputs, each named once");
    }
    List<Batch> batches = state.batches();
    int from = indexOf(batches, ids.get(0));
    Set<String> wanted = Set.copyOf(ids);
    long present = batches.stream().filter(batch -> wanted.contains(batch.id())).count();
    if (present < ids.size()) {
      boolean installed = present == 0 && indexOf(batches, command.output().id()) >= 0;
      return installed
          ? new Nothing("merge " + command.output().id() + " is installed already")
          : new Stale(
              "merge "
                  + command.output().id()
                  + ": "
                  + (ids.size() - present)
                  + " of its inputs are no longer there");
    }
    if (from + ids.size() > batches.size()) {
      return misaligned(command);
    }
    List<Batch> inputs = batches.subList(from, from + ids.size());
    if (!inputs.stream().map(Batch::id).toList().equals(ids)) {
      return misaligned(command);
    }
    if (state.retired()) {
      return new Stale("merge " + command.output().id() + ": the shard is retired");
    }
    String fault = outputFault(state, inputs, command.output());
    if (fault != null) {
      return new Invalid("merge " + command.output().id() + ": " + fault);
    }
    Refusal swept = PartNames.of(inputs).sweptOf(command.output(), state.swept());
    if (swept != null) {
      return swept;
    }
    return command.level() < 0
        ? installConsolidation(state, inputs, command.output())
        : installMerge(state, inputs, command);
  }

  private static Decision installMerge(ShardState state, List<Batch> inputs, InstallMerge command) {
    int level = command.level();
    for (Batch input : inputs) {
      if (input.level() != level) {
        return new Stale("batch " + input.id() + " moved to level " + input.level());
      }
      if (Spine.isConsolidating(input, state.consolidating())) {
        return new Stale("batch " + input.id() + " is being consolidated");
      }
    }
    Spine spine = state.spine();
    boolean oldest = spine.level(level).get(0).equals(inputs.get(0));
    if (stays(inputs, command.output()) || !oldest) {
      return replace(state, inputs, command.output(), level, null);
    }
    Refusal full = levelFull(state, spine, level + 1, Spine.weight(command.output()));
    return full != null ? full : replace(state, inputs, command.output(), level + 1, null);
  }

  /**
   * Rule 3: whether at least half of the input bytes vanished. Where there were none, as with error
   * rows alone, none vanished.
   */
  private static boolean stays(List<Batch> inputs, Batch output) {
    long before = inputs.stream().mapToLong(Batch::bytes).sum();
    long vanished = before - output.bytes();
    return vanished > 0 && vanished >= before - vanished;
  }

  private static Decision installConsolidation(ShardState state, List<Batch> inputs, Batch output) {
    Frontier upper = state.consolidating();
    if (upper == null) {
      return new Stale("merge " + output.id() + ": no consolidation is under way");
    }
    Spine spine = state.spine();
    if (!spine.consolidating().equals(inputs)) {
      return new Stale(
          "merge " + output.id() + " isn't of the consolidation under way, up to " + upper);
    }
    int level = spine.highest();
    Refusal full = levelFull(state, spine, level, Spine.weight(output));
    return full != null
        ? full
        : replace(
            state,
            inputs,
            output,
            level,
            new Fact.ConsolidatingFact(upper, state.consolidationForced()));
  }

  private static Decision replace(
      ShardState state,
      List<Batch> inputs,
      Batch output,
      int level,
      Fact.@Nullable ConsolidatingFact done) {
    List<Fact> remove = new ArrayList<>();
    List<Fact> add = new ArrayList<>();
    for (Batch input : inputs) {
      remove.add(new Fact.BatchFact(input));
    }
    if (done != null) {
      remove.add(done);
    }
    add.add(new Fact.BatchFact(output.withBounds(bounds(inputs)).atLevel(level)));
    boolean forced = done != null && done.forced();
    state.recount(written -> forced ? written.force(output) : written.merge(output), remove, add);
    return ShardMachine.commit(remove, add);
  }

  /** What is wrong with the output of a merge of these inputs, null when nothing is. */
  private static @Nullable String outputFault(ShardState state, List<Batch> inputs, Batch output) {
    String fault = sinceFault(state, inputs, output);
    if (fault == null) {
      fault = contentsFault(inputs, output);
    }
    if (fault != null) {
      return fault;
    }
    if (!state.hasSchema(output.schema())) {
      return "the shard has no schema " + output.schema();
    }
    Set<Batch> others = Collections.newSetFromMap(new IdentityHashMap<>());
    others.addAll(state.batches());
    inputs.forEach(others::remove);
    if (indexOf(List.copyOf(others), output.id()) >= 0) {
      return "the shard has a batch of that id";
    }
    return PartNames.of(others).faultOf(output, null, PartNames.none());
  }

  private static @Nullable String sinceFault(ShardState state, List<Batch> inputs, Batch output) {
    if (output.since().isAfter(state.since())) {
      return "its since " + output.since() + " is past the shard's, " + state.since();
    }
    for (Batch input : inputs) {
      if (input.since().isAfter(output.since())) {
        return "its since %s is before that of its input %s, %s"
            .formatted(output.since(), input.id(), input.since());
      }
    }
    return null;
  }

  private static @Nullable String contentsFault(List<Batch> inputs, Batch output) {
    if (output.runCount() > 1 || output.cut()) {
      return "it must be one run and not cut";
    }
    String fault = Invariants.batchFault(output.withBounds(bounds(inputs)));
    if (fault != null) {
      return fault;
    }
    long rows = inputs.stream().mapToLong(Batch::rows).sum();
    if (output.rows() > rows) {
      return "it has " + output.rows() + " rows, more than the " + rows + " that it replaces";
    }
    OptionalLong sum = sum(inputs);
    if (sum.isPresent() && !sum.equals(output.sum())) {
      return "its diffs sum up to " + text(output.sum()) + ", those of its inputs to " + text(sum);
    }
    return null;
  }

  /** From the lower of the oldest to the upper of the newest. */
  private static BatchDescription bounds(List<Batch> batches) {
    return new BatchDescription(
        batches.get(0).bounds().lower(), batches.get(batches.size() - 1).bounds().upper());
  }

  private static String text(OptionalLong sum) {
    return sum.isPresent() ? Long.toString(sum.getAsLong()) : "an unknown number";
  }

  /** The sum of all diffs, where all are known. */
  private static OptionalLong sum(List<Batch> batches) {
    long sum = 0;
    for (Batch batch : batches) {
      if (batch.sum().isEmpty()) {
        return OptionalLong.empty();
      }
      sum += batch.sum().getAsLong();
    }
    return OptionalLong.of(sum);
  }

  private static Decision misaligned(InstallMerge command) {
    return new Invalid(
        "merge " + command.output().id() + ": its inputs aren't neighbours in order of time");
  }

  // ---- Promote

  static Decision promote(ShardState state, PromoteLevel command) {
    if (state.retired()) {
      return new Nothing("the shard is retired");
    }
    int level = command.fromLevel();
    Spine spine = state.spine();
    int index = indexOf(state.batches(), command.batch());
    if (index < 0) {
      return new Nothing("batch " + command.batch() + " is no longer there");
    }
    Batch batch = state.batches().get(index);
    if (batch.level() != level || Spine.isConsolidating(batch, state.consolidating())) {
      return new Nothing("batch " + batch.id() + " no longer counts in level " + level);
    }
    if (!Objects.equals(spine.level(level).get(0), batch)) {
      return new Invalid("batch " + batch.id() + " isn't the oldest of level " + level);
    }
    if (batch.cut() || (Spine.weight(batch) > 1 && !isBig(state, batch))) {
      return new Invalid("batch " + batch.id() + " may not leave level " + level + " unmerged");
    }
    boolean due = spine.count(level) >= state.spec().fanIn();
    if (!due && spine.count() <= state.spec().rest()) {
      return new Nothing("level " + level + " is no longer due");
    }
    Refusal full = levelFull(state, spine, level + 1, Spine.weight(batch));
    return full != null
        ? full
        : ShardMachine.commit(
            List.of(new Fact.BatchFact(batch)),
            List.of(new Fact.BatchFact(batch.atLevel(level + 1))));
  }

  private static boolean isBig(ShardState state, Batch batch) {
    return state.spec().naturalLevel(batch.bytes()) > batch.level();
  }

  // ---- Begin a consolidation

  static Decision begin(ShardState state, BeginConsolidation command) {
    return begin(state, command.upper(), false);
  }

  static Decision force(ShardState state, ForceConsolidation command) {
    return begin(state, command.upper(), true);
  }

  /**
   * Announces a consolidation. A forced one is none of rule 4's, and counted apart, if its garbage
   * doesn't pay for it, or if it takes rows past since: these cancel nothing yet, and a later one
   * has to write them again. That is settled here, as the spec may be another when it is installed.
   */
  private static Decision begin(ShardState state, Frontier upper, boolean forced) {
    if (state.retired()) {
      return new Stale("the shard is retired");
    }
    Frontier underWay = state.consolidating();
    if (underWay != null) {
      return underWay.equals(upper)
          ? new Nothing("the consolidation up to " + upper + " is announced already")
          : new Stale("another consolidation is under way, up to " + underWay);
    }
    List<Batch> inputs = Spine.of(state.batches(), upper).consolidating();
    if (inputs.isEmpty() || !inputs.get(inputs.size() - 1).bounds().upper().equals(upper)) {
      return new Stale("no batch ends at " + upper + " any more");
    }
    Batch past = firstPast(inputs, state.since());
    if (!forced && past != null) {
      return new Invalid(
          "batch "
              + past.id()
              + " has rows past since "
              + state.since()
              + ": it can't be consolidated yet");
    }
    boolean apart = forced && (past != null || !Spine.pays(state.spec(), inputs));
    return ShardMachine.commit(List.of(), List.of(new Fact.ConsolidatingFact(upper, apart)));
  }

  private static @Nullable Batch firstPast(List<Batch> batches, Frontier since) {
    for (Batch batch : batches) {
      if (batch.maxTime() > since.time()) {
        return batch;
      }
    }
    return null;
  }

  // ---- Both

  /** Rule 5: a batch enters a level only if the level then counts at most K. */
  private static @Nullable Refusal levelFull(ShardState state, Spine spine, int level, int weight) {
    int runs = spine.count(level);
    int queue = state.spec().queue();
    return weight == 0 || runs + weight <= queue
        ? null
        : new LevelFull(
            level,
            runs,
            queue,
            "level "
                + level
                + " counts "
                + runs
                + " of at most "
                + queue
                + " runs: wait until some are merged");
  }

  private static int indexOf(List<Batch> batches, String id) {
    for (int i = 0; i < batches.size(); i++) {
      if (batches.get(i).id().equals(id)) {
        return i;
      }
    }
    return -1;
  }
}
