package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What somebody wants of a shard. */
public sealed interface Command {
  /** The command's name in the log. */
  String name();

  /** Make the shard: its first version. */
  record Create(String shard, Schema schema, SpineSpec spec) implements Command {
    @Override
    public String name() {
      return "create";
    }
  }

  /**
   * Append consecutive batches, the first at the shard's upper; the longest prefix that fits is
   * admitted.
   *
   * @param by the attempt that appends
   * @param batches oldest first, level 0; one without rows extends the batch before it
   */
  record Append(WriterAttempt by, List<Batch> batches) implements Command {
    /** Copies the list. */
    public Append {
      batches = List.copyOf(batches);
    }

    @Override
    public String name() {
      return "append";
    }
  }

  /**
   * Put the result of a merge in the place of its inputs. The machine takes the output's bounds and
   * level from the inputs as they are then (rules 3, 4 and 7).
   *
   * @param level the level the inputs lay in when planned; -1 for a consolidation
   * @param inputs the ids of the inputs, oldest first
   * @param output the merged batch; its bounds and level are the plan's and may be outdated
   */
  record InstallMerge(int level, List<String> inputs, Batch output) implements Command {
    /** Copies the list. */
    public InstallMerge {
      inputs = List.copyOf(inputs);
    }

    @Override
    public String name() {
      return "install";
    }
  }

  /** Move the oldest batch of a level to the tail of the next. */
  record PromoteLevel(String batch, int fromLevel) implements Command {
    @Override
    public String name() {
      return "promote";
    }
  }

  /** Announce a consolidation of all batches below {@code upper}. */
  record BeginConsolidation(Frontier upper) implements Command {
    @Override
    public String name() {
      return "consolidate";
    }
  }

  /**
   * Announce a consolidation of all batches below {@code upper} that no rule asks for, also of rows
   * past since. What it writes is counted apart unless its own garbage pays for it.
   */
  record ForceConsolidation(Frontier upper) implements Command {
    @Override
    public String name() {
      return "force";
    }
  }

  /** Give up the times before {@code since}. */
  record DowngradeSince(Frontier since) implements Command {
    @Override
    public String name() {
      return "since";
    }
  }

  /**
   * Declare that no part of a day up to this one is brought in any more, so that those which nobody
   * names can be deleted.
   *
   * @param day {@code 2026-11-30}
   */
  record Sweep(String day) implements Command {
    @Override
    public String name() {
      return "sweep";
    }
  }

  /** Change some knobs of the spec; those that are null stay. */
  record AlterSpec(
      @Nullable Integer fanIn,
      @Nullable Integer queue,
      @Nullable Integer rest,
      @Nullable Long baseBytes,
      @Nullable Double space,
      @Nullable Boolean merging)
      implements Command {
    @Override
    public String name() {
      return "alter";
    }
  }

  /**
   * Let the shard's columns be these from now on, as far as {@link
   * dev.tidemark.schema.SchemaChange} allows. What is there stays as it is.
   *
   * @param declared the columns by name; their ids mean nothing
   */
  record EvolveSchema(Schema declared) implements Command {
    @Override
    public String name() {
      return "evolve";
    }
  }

  /**
   * Close the shard: an empty batch from the upper to the end, whatever the upper is by then. No
   * writer's {@code upto} moves, as none of them appended it.
   *
   * @param batch the id of that batch, where the newest can't be extended
   */
  record Seal(String batch) implements Command {
    @Override
    public String name() {
      return "seal";
    }
  }

  /**
   * Let one writer write and no other that is known: a writer that was never here gets a fact.
   * Whoever comes later under a new id is not held up by it.
   */
  record HandOver(String writer) implements Command {
    @Override
    public String name() {
      return "hand-over";
    }
  }

  /** Drop the error parts all of whose rows are before a time. */
  record ForgetErrors(Frontier before) implements Command {
    @Override
    public String name() {
      return "forget-errors";
    }
  }

  /**
   * Seal the shard and give up every time of it: nothing of it can be read or written any more, and
   * {@link Discard} may empty it.
   *
   * @param batch as in {@link Seal}
   */
  record Retire(String batch) implements Command {
    @Override
    public String name() {
      return "retire";
    }
  }

  /**
   * Put one empty batch in the place of the oldest batches of a retired shard: a merge whose since
   * is the end, so it must pass no hold either.
   *
   * @param batch the id of the empty batch
   * @param most how many batches at most, at least 2, so that every step is small
   */
  record Discard(String batch, int most) implements Command {
    /** Checks the bound. */
    public Discard {
      if (most < 2) {
        throw new IllegalArgumentException("a step of " + most + " batches gets nowhere");
      }
    }

    @Override
    public String name() {
      return "discard";
    }
  }
}
