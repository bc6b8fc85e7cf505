package dev.tidemark.sim;

import dev.tidemark.hold.Holds;
import dev.tidemark.log.CommitResult;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.MergePlan;
import dev.tidemark.spine.Part;
import dev.tidemark.spine.SpinePlanner;
import dev.tidemark.store.StoreException;
import dev.tidemark.testing.Batches;
import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Plans, merges, installs, and moves since. */
final class Merger extends Participant {
  private final Holds holds;

  Merger(Host host) {
    super(host);
    this.holds = new Holds(log);
  }

  @Override
  void turn() throws IOException {
    ShardState state = refresh();
    if (!state.exists() || state.retired()) {
      return;
    }
    if (host.chance().happens(0.4)) {
      moveSince(state);
      return;
    }
    List<MergePlan> plans =
        SpinePlanner.plan(
            state.spec(), state.batches(), state.since(), state.consolidating(), Set.of());
    if (!plans.isEmpty()) {
      carryOut(state, plans.get(host.chance().below(plans.size())));
    }
  }

  private void moveSince(ShardState state) throws IOException {
    Frontier upper = state.upper();
    if (upper.isMinimum() || upper.isEnd()) {
      return;
    }
    Frontier wanted = Frontier.of(Math.max(0, upper.time() - host.world().settings().retain()));
    // Stopping at holds is a courtesy here, not a rule: a merge must stop at them in any case.
    Frontier since = host.chance().happens(0.5) ? wanted.min(holds.leastSince()) : wanted;
    if (since.isAfter(state.since())) {
      commit(new Command.DowngradeSince(since), "since");
    }
  }

  private void carryOut(ShardState state, MergePlan plan) throws IOException {
    if (plan instanceof MergePlan.Promote promote) {
      commit(new Command.PromoteLevel(promote.batch(), promote.fromLevel()), "promote");
    } else if (plan instanceof MergePlan.Merge merge) {
      merge(state, merge.inputs(), merge.level());
    } else if (plan instanceof MergePlan.Consolidate consolidate) {
      CommitResult begun =
          commit(new Command.BeginConsolidation(consolidate.upper()), "consolidate");
      if (!(begun instanceof CommitResult.Refused)) {
        merge(state, consolidate.inputs(), -1);
      }
    }
  }

  private void merge(ShardState state, List<String> ids, int level) throws IOException {
    List<Batch> inputs =
        state.batches().stream().filter(batch -> ids.contains(batch.id())).toList();
    Frontier since = since(state, inputs);
    List<Update> rows = read(inputs);
    List<Update> errors = rows == null ? null : readErrors(inputs);
    if (rows == null || errors == null) {
      refreshChecked();
      return;
    }
    BatchDescription bounds =
        new BatchDescription(
            inputs.get(0).bounds().lower(), inputs.get(inputs.size() - 1).bounds().upper());
    List<Update> merged = Rows.consolidated(rows, advancedTo(since, bounds));
    List<List<Part>> runs = new ArrayList<>();
    if (!merged.isEmpty()) {
      runs.add(List.of(upload(merged)));
    }
    Batch output = Batches.of(host.freshName(), bounds, since, Math.max(0, level), runs);
    if (!errors.isEmpty() && host.world().mutant() != Mutant.MERGE_LOSES_ERRORS) {
      output = Batches.withErrors(output, upload(Rows.consolidated(errors, since)));
    }
    install(new Command.InstallMerge(level, ids, output));
  }

  private void install(Command.InstallMerge install) throws IOException {
    Batch output = install.output();
    try {
      CommitResult result = commit(install, "install");
      if (result instanceof CommitResult.Refused
          && host.world().mutant() == Mutant.INPUTS_NOT_CHECKED) {
        forceInstall(result.state(), install);
      }
    } catch (StoreException e) {
      if (e.indeterminate() && host.world().mutant() == Mutant.MERGE_CLEANS_UP) {
        deleteParts(List.of(output));
      }
      throw e;
    }
  }

  /** Whichever inputs are still there make way. */
  private void forceInstall(ShardState state, Command.InstallMerge install) throws IOException {
    List<Fact> present = new ArrayList<>();
    for (Batch batch : state.batches()) {
      if (install.inputs().contains(batch.id())) {
        present.add(new Fact.BatchFact(batch));
      }
    }
    force(state, install, new Diff(present, List.of(new Fact.BatchFact(install.output()))));
  }

  private Frontier advancedTo(Frontier since, BatchDescription bounds) {
    return host.world().mutant() == Mutant.MERGE_LOSES_TIMES
        ? Frontier.of(bounds.upper().time() - 1)
        : since;
  }

  /** As far as since was when last read, and as all holds listed after that allow. */
  private Frontier since(ShardState state, List<Batch> inputs) throws IOException {
    Frontier since = state.since();
    if (host.world().mutant() != Mutant.MERGE_PAST_HOLDS) {
      since = since.min(holds.leastSince());
    }
    for (Batch input : inputs) {
      since = since.max(input.since());
    }
    return since;
  }
}
