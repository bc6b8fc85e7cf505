package dev.tidemark.shard;

import dev.tidemark.schema.Column;
import dev.tidemark.schema.ColumnType;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import java.util.List;

/** Shards for tests: made by the machine, step by step, each step checked. */
final class Shards {
  static final Schema SCHEMA =
      new Schema(
          1, List.of(new Column(1, "id", ColumnType.of(ColumnType.Kind.BIGINT, false))), List.of());

  static final WriterAttempt ATTEMPT =
      new WriterAttempt("w", "2026-11-30T00:00:00Z", "attempt-1", "host-1");

  private Shards() {}

  static ShardState created() {
    return created(SpineSpec.DEFAULT);
  }

  static ShardState created(SpineSpec spec) {
    return committed(ShardState.EMPTY, new Command.Create("shard-1", SCHEMA, spec));
  }

  static ShardState append(ShardState state, Batch... batches) {
    return committed(state, new Command.Append(ATTEMPT, List.of(batches)));
  }

  /** The state after a command that must be committed. */
  static ShardState committed(ShardState state, Command command) {
    Decision decision = ShardMachine.decide(state, command);
    if (!(decision instanceof Decision.Commit commit)) {
      throw new AssertionError(command + " was not committed: " + decision);
    }
    ShardState after = state.apply(commit.diff());
    Invariants.checkTransition(state, after);
    Invariants.check(after);
    return after;
  }
}
