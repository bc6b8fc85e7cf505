package dev.tidemark.job;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.read.Shards;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * A job that merges what others write (role = compact).
 *
 * @param name the job's name in Flink
 * @param warehouse where the shards lie
 * @param named the shards that were named; empty: all of the warehouse
 * @param retain how far since stays behind the upper of shards that weren't named; null: for ever
 * @param findInterval how often new shards are looked for
 * @param sink how shards are merged; holds the writer's id and the store
 * @param checkpoints when and where
 * @param uiPort the first port to try for the embedded web UI; 0: any
 * @param flink Flink's own settings, passed on as they are
 */
public record CompactOptions(
    String name,
    String warehouse,
    List<ShardTarget> named,
    @Nullable Duration retain,
    Duration findInterval,
    SinkSettings sink,
    JobOptions.Checkpoints checkpoints,
    int uiPort,
    SortedMap<String, String> flink)
    implements JobFrame {
  /** Copies the list. */
  public CompactOptions {
    named = List.copyOf(named);
  }

  /** Whether these options ask for such a job. */
  public static boolean wanted(Options options) {
    return options.value(JobKeys.COMPACTS);
  }

  /**
   * Works the options out; what is said of a source is left aside.
   *
   * @throws OptionException naming the key and the mend
   */
  public static CompactOptions of(Options options) {
    return new JobOptionsReader(options).readCompact();
  }

  @Override
  public int parallelism() {
    return 1;
  }

  /** The shards to merge now: those that were named, or all that are there. */
  public List<ShardTarget> find() throws IOException {
    if (!named.isEmpty()) {
      return named;
    }
    try (ObjectStore store = Stores.open(warehouse, store())) {
      return Shards.names(store).stream()
          .map(shard -> ShardTarget.merged(warehouse + "/" + shard, shard, retain))
          .toList();
    }
  }
}
