package dev.tidemark.flink.write;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.Workers;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * How far the logs of a job's shards have come when an attempt begins, with commit = frontier: what
 * is read again below that is stored already.
 */
final class StoredUppers {
  private StoredUppers() {}

  /**
   * Reads them, many at a time.
   *
   * @throws StopForGoodException when a shard is sealed
   */
  static List<Frontier> read(List<ShardHandle> handles) throws Exception {
    List<Callable<Frontier>> reads = new ArrayList<>();
    for (ShardHandle handle : handles) {
      reads.add(() -> upper(handle));
    }
    return Workers.sideBySide("tidemark-write-open", reads);
  }

  private static Frontier upper(ShardHandle handle) throws Exception {
    var state = handle.log().refresh();
    Frontier upper = state.exists() ? state.upper() : Frontier.MINIMUM;
    if (upper.isEnd()) {
      throw new StopForGoodException(
          "shard " + handle.target().url() + " is sealed for good: write to another shard");
    }
    return upper;
  }
}
