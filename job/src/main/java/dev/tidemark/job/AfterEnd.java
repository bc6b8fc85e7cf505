package dev.tidemark.job;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.merge.CompactionReport;
import dev.tidemark.merge.CompactionWatch;
import dev.tidemark.merge.Compactor;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.shard.Command;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;

/**
 * What is done with a job's shards once it has ended by itself: only whoever waited for the end
 * knows of it, since within the dataflow the end of input and a stop that drains look alike.
 */
public final class AfterEnd {
  private AfterEnd() {}

  /**
   * Seals the shards of a job: nothing can be appended any more. One that is sealed already stays
   * so, which makes it safe to repeat.
   *
   * @return the names of the shards, all of them sealed now
   * @throws OptionException when a shard refuses, naming it and why
   */
  public static List<String> seal(JobOptions options) throws IOException {
    List<String> sealed = new ArrayList<>();
    for (ShardTarget shard : options.shards()) {
      try (ObjectStore store = Stores.open(shard.url(), options.store())) {
        ShardLog log = new ShardLog(store);
        if (log.refresh().exists()) {
          CommitResult result =
              log.commit(new Command.Seal(ShardHandle.newId()), author(options, "seal"));
          if (result instanceof CommitResult.Refused refused) {
            throw new OptionException(
                shard.name() + " isn't sealed: " + refused.refusal().message());
          }
          sealed.add(shard.name());
        }
      }
    }
    return List.copyOf(sealed);
  }

  /** Does every merge that is wanted of the shards of a job, one shard after another. */
  static void settle(JobOptions options) throws IOException {
    MergeLimits limits = MergeLimits.of(options.sink());
    PartKeys keys = new PartKeys(Clock.systemUTC(), new SecureRandom());
    for (ShardTarget shard : options.shards()) {
      try (ObjectStore store = Stores.open(shard.url(), options.store())) {
        ShardLog log = new ShardLog(store);
        if (log.refresh().exists() && log.known().spec().merging()) {
          PartStore parts = new PartStore(store, log.known().shard(), limits.partBytes(), keys);
          CompactionReport unused =
              new Compactor(
                      log,
                      parts,
                      author(options, "settle"),
                      ShardHandle::newId,
                      limits.memoryBytes(),
                      limits.chunkBytes())
                  .wanted(new Unwatched());
        }
      }
    }
  }

  private static Author author(JobOptions options, String role) {
    return Attempts.author(options.writer(), Clock.systemUTC(), role);
  }

  /** Nobody looks on, and nobody stops it. */
  private static final class Unwatched implements CompactionWatch {
    @Override
    public boolean stopped() {
      return false;
    }

    @Override
    public void merging(Work work, long rows) {}
  }
}
