package dev.tidemark.shard;

import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.Frontier;
import java.util.List;

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

  /** Give up the times before {@code since}. */
  record DowngradeSince(Frontier since) implements Command {
    @Override
    public String name() {
      return "since";
    }
  }
}
