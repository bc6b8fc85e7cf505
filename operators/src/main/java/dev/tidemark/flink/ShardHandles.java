package dev.tidemark.flink;

import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.RequestCounts;
import dev.tidemark.store.Stores;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * The shards that jobs in this JVM have open: one handle a job and shard, so that write, append,
 * spine, merge and install of one process see each other's versions without asking the store. This
 * registry must be static: Flink gives the subtasks of a task manager nothing else in common.
 */
public final class ShardHandles {
  private static final Map<Key, Counted> OPEN = new HashMap<>();

  /** By URL, and kept after the stores are closed: what a job's requests came to. */
  private static final Map<String, List<RequestCounts>> REQUESTS = new HashMap<>();

  private ShardHandles() {}

  record Key(String job, String url) {}

  private static final class Counted {
    final ShardHandle handle;
    int users;

    Counted(ShardHandle handle) {
      this.handle = handle;
    }
  }

  /** The handle of a shard in the job of {@code context}; to be closed by whoever asked for it. */
  public static ShardHandle acquire(
      RuntimeContext context, ShardTarget target, SinkSettings settings) {
    Key key = new Key(context.getJobInfo().getJobId().toString(), target.url());
    synchronized (OPEN) {
      Counted counted = OPEN.computeIfAbsent(key, missing -> open(missing, target, settings));
      counted.users++;
      return counted.handle;
    }
  }

  private static Counted open(Key key, ShardTarget target, SinkSettings settings) {
    ObjectStore store = Stores.open(target.url(), settings.store());
    REQUESTS.computeIfAbsent(target.url(), first -> new ArrayList<>()).add(store.requests());
    return new Counted(new ShardHandle(key, target, store, settings.partTargetBytes()));
  }

  /** The requests that this JVM's jobs have made for a shard, one entry each time it was opened. */
  public static List<RequestCounts> requests(String url) {
    synchronized (OPEN) {
      return List.copyOf(REQUESTS.getOrDefault(url, List.of()));
    }
  }

  /** The state of a shard as a job in this JVM last saw it; empty when none has it open. */
  public static Optional<ShardState> known(String url) {
    synchronized (OPEN) {
      return OPEN.entrySet().stream()
          .filter(open -> open.getKey().url().equals(url))
          .map(open -> open.getValue().handle.log().known())
          .filter(ShardState::exists)
          .findFirst();
    }
  }

  /** One user less; whether it was the last. */
  static boolean release(Key key) {
    synchronized (OPEN) {
      Counted counted = OPEN.get(key);
      if (counted == null || --counted.users > 0) {
        return false;
      }
      OPEN.remove(key);
      return true;
    }
  }
}
