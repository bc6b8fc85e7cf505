package dev.tidemark.shard;

import dev.tidemark.shard.Command.Append;
import dev.tidemark.shard.Command.BeginConsolidation;
import dev.tidemark.shard.Command.Create;
import dev.tidemark.shard.Command.DowngradeSince;
import dev.tidemark.shard.Command.ForceConsolidation;
import dev.tidemark.shard.Command.InstallMerge;
import dev.tidemark.shard.Command.PromoteLevel;
import dev.tidemark.shard.Decision.Commit;
import dev.tidemark.shard.Decision.Nothing;
import dev.tidemark.shard.Decision.Refusal.Existence;
import dev.tidemark.shard.Decision.Refusal.Invalid;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.util.List;

/**
 * All rules of a shard, in one place, for everybody: state and command in, decision out. Pure.
 *
 * <p>A decision is a diff to commit, the news that there is nothing to do, or a refusal. What a
 * diff leads to keeps {@link Invariants}; the commit loop checks that before it writes.
 */
public final class ShardMachine {
  /** The format that new shards are written in. */
  public static final String FORMAT = "1.0";

  private ShardMachine() {}

  /** Decides a command on a state. */
  public static Decision decide(ShardState state, Command command) {
    if (command instanceof Create create) {
      return create(state, create);
    }
    if (!state.exists()) {
      return new Existence("there is no shard here: create it first");
    }
    if (command instanceof Append append) {
      return Appending.decide(state, append);
    }
    if (command instanceof InstallMerge install) {
      return Merging.install(state, install);
    }
    if (command instanceof PromoteLevel promote) {
      return Merging.promote(state, promote);
    }
    if (command instanceof BeginConsolidation begin) {
      return Merging.begin(state, begin);
    }
    if (command instanceof ForceConsolidation force) {
      return Merging.force(state, force);
    }
    if (command instanceof DowngradeSince since) {
      return downgradeSince(state, since);
    }
    return Administering.decide(state, command);
  }

  private static Decision create(ShardState state, Create command) {
    if (state.exists()) {
      return new Existence(
          "there is a shard here already: " + state.shard() + " at version " + state.seqno());
    }
    if (command.shard().isEmpty()) {
      return new Invalid("a shard needs a random id");
    }
    if (command.schema().columns().isEmpty()) {
      return new Invalid("a shard needs at least one column");
    }
    return commit(
        List.of(),
        List.of(
            new Fact.ShardFact(command.shard(), FORMAT),
            new Fact.SchemaFact(command.schema()),
            new Fact.SpecFact(command.spec()),
            new Fact.UpperFact(Frontier.MINIMUM),
            new Fact.SinceFact(Frontier.MINIMUM),
            new Fact.WrittenFact(Written.NONE)));
  }

  private static Decision downgradeSince(ShardState state, DowngradeSince command) {
    Frontier since = command.since();
    if (!since.isAfter(state.since())) {
      return new Nothing("since is " + state.since() + " already");
    }
    if (since.isEnd()) {
      return new Invalid(
          "since end would give up every time of the shard: take a finite time, or retire it");
    }
    if (since.isAfter(state.upper())) {
      return new Invalid(
          "since " + since + " is past the shard's upper " + state.upper() + ": take at most that");
    }
    return commit(List.of(new Fact.SinceFact(state.since())), List.of(new Fact.SinceFact(since)));
  }

  static Commit commit(List<Fact> remove, List<Fact> add) {
    return new Commit(new Diff(remove, add), 1);
  }
}
