package dev.tidemark.flink.append;

import dev.tidemark.flink.CommitSettings;
import java.io.Serializable;

/**
 * How an append meets what others have done to its shard.
 *
 * @param cuts whether batches are cut to what the shard's upper leaves of them: with commit =
 *     frontier, where rows have their own times. Else what doesn't begin at the upper or behind it
 *     is another's
 * @param readOnly whether nothing is appended (read-only)
 * @param lenient whether another writer's appends are put up with
 */
record AppendPolicy(boolean cuts, boolean readOnly, boolean lenient) implements Serializable {
  static AppendPolicy of(CommitSettings commit) {
    return new AppendPolicy(commit.isFrontier(), commit.readOnly(), commit.lenient());
  }
}
