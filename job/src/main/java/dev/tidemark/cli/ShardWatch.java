package dev.tidemark.cli;

import dev.tidemark.flink.ShardHandles;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.ShardTarget;
import dev.tidemark.log.ShardLog;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import dev.tidemark.store.StoreSettings;
import dev.tidemark.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the shards of a job. In this JVM their states come from the job's own handles, what
 * counts at the end from the log by a store of its own; of a job elsewhere all comes from the logs,
 * as many a look as can be read within a second. Not thread-safe.
 */
final class ShardWatch implements AutoCloseable {
  /** One shard, as far as it has been followed. */
  static final class Followed {
    private final ShardTarget target;
    private final ObjectStore store;
    private final ShardLog log;
    private ShardState state = ShardState.EMPTY;

    /** What others have written before the job did. */
    private ShardState first = ShardState.EMPTY;

    private Followed(ShardTarget target, ObjectStore store) {
      this.target = target;
      this.store = store;
      this.log = new ShardLog(store);
    }

    String name() {
      return target.name();
    }

    ShardState state() {
      return state;
    }

    SpineFigures figures() {
      return SpineFigures.of(state);
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(ShardWatch.class);

  private static final long LOOK_NANOS = 1_000_000_000;

  private final List<Followed> shards = new ArrayList<>();
  private final boolean here;

  /** The one to be looked at next, of a job elsewhere. */
  private int next;

  /**
   * Follows shards.
   *
   * @param readAt where a shard's log is read, given its URL
   */
  ShardWatch(List<ShardTarget> targets, StoreSettings settings, UnaryOperator<String> readAt) {
    this(targets, settings, readAt, true);
  }

  private ShardWatch(
      List<ShardTarget> targets,
      StoreSettings settings,
      UnaryOperator<String> readAt,
      boolean here) {
    this.here = here;
    for (ShardTarget target : targets) {
      shards.add(new Followed(target, Stores.open(readAt.apply(target.url()), settings)));
    }
  }

  /** Follows the shards of a job in other processes. */
  static ShardWatch elsewhere(List<ShardTarget> targets, StoreSettings settings) {
    return new ShardWatch(targets, settings, UnaryOperator.identity(), false);
  }

  /** Reads what is there before the job writes, to know later what came of others. */
  void begin() throws IOException {
    for (Followed shard : shards) {
      shard.first = shard.log.refresh();
    }
  }

  /** Who else has appended to one of the shards since {@link #begin}; empty when nobody has. */
  Optional<String> others() {
    for (Followed shard : shards) {
      try {
        Optional<String> other =
            ShardStart.appendedSince(shard.target, shard.first, shard.log.refresh());
        if (other.isPresent()) {
          return other;
        }
      } catch (IOException e) {
        LOG.debug("shard {}: who wrote it last is not known", shard.name(), e);
      }
    }
    return Optional.empty();
  }

  /** Looks at what the job knows by now. */
  void look() {
    if (!here) {
      readSome();
      return;
    }
    for (Followed shard : shards) {
      Optional<ShardState> known = ShardHandles.known(shard.target.url());
      if (known.isPresent() && known.get().seqno().compareTo(shard.state.seqno()) > 0) {
        shard.state = known.get();
      }
    }
  }

  /** Reads on where the last look ended, until all logs have been read or the time is over. */
  private void readSome() {
    long begun = System.nanoTime();
    for (int i = 0; i < shards.size() && System.nanoTime() - begun < LOOK_NANOS; i++) {
      Followed shard = shards.get(next);
      next = (next + 1) % shards.size();
      try {
        shard.state = shard.log.refresh();
      } catch (IOException e) {
        LOG.debug("shard {}: no look at its log; the next tells", shard.name(), e);
      }
    }
  }

  /** Reads each log to its head: what counts at the end. */
  void finish() throws IOException {
    for (Followed shard : shards) {
      ShardState head = shard.log.refresh();
      if (head.exists()) {
        shard.state = head;
      }
    }
  }

  List<Followed> shards() {
    return List.copyOf(shards);
  }

  @Override
  public void close() {
    shards.forEach(shard -> shard.store.close());
  }
}
