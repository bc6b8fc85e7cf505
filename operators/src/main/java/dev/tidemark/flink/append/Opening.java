package dev.tidemark.flink.append;

import dev.tidemark.flink.Attempts;
import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.Workers;
import dev.tidemark.log.Author;
import dev.tidemark.shard.ShardState;
import dev.tidemark.shard.WriterAttempt;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of an attempt: opens its shards side by side, and checks each against the state.
 */
final class Opening {
  private final SinkSettings settings;
  private final AppendPolicy policy;
  private final AppendState state;
  private final boolean failover;
  private final Map<OwnedShard, ShardState> found = new HashMap<>();
  private @Nullable Author author;

  /**
   * Of an attempt.
   *
   * @param failover whether the job has had an attempt before. With commit = frontier that may have
   *     appended without any checkpoint, and what it has is told by time then, as after any failure
   */
  Opening(SinkSettings settings, AppendPolicy policy, AppendState state, boolean failover) {
    this.settings = settings;
    this.policy = policy;
    this.state = state;
    this.failover = failover && policy.cuts();
  }

  /**
   * Opens the shards.
   *
   * @param setKey sets the key of state
   * @return who appends: an attempt younger than all that the logs know of this writer
   */
  Author open(List<OwnedShard> shards, ExecutorService executor, Consumer<Object> setKey)
      throws Exception {
    WriterAttempt attempt = Attempts.begin(settings.writer(), Clock.systemUTC());
    Author by = new Author(attempt, "append");
    List<Callable<ShardState>> opens = new ArrayList<>();
    for (OwnedShard shard : shards) {
      setKey.accept(shard.key());
      SeenShard seen = state.seen();
      opens.add(() -> open(shard.handle(), by, seen));
    }
    List<ShardState> states = Workers.sideBySide(executor, opens);
    for (int i = 0; i < states.size(); i++) {
      found.put(shards.get(i), states.get(i));
      var writer = states.get(i).writers().get(attempt.writer());
      attempt = writer == null ? attempt : Attempts.after(attempt, writer.by());
    }
    author = new Author(attempt, "append");
    return author;
  }

  private ShardState open(ShardHandle handle, Author by, @Nullable SeenShard seen)
      throws IOException {
    RestoredShard.checkThere(handle, by, handle.log().refresh(), seen);
    ShardState opened = handle.open(by);
    if (!state.isRestored() && !failover) {
      ShardStart.checkData(handle.target(), opened, settings.start());
    }
    return opened;
  }

  /**
   * Brings a shard, whose key is set, to where the state has left it.
   *
   * @param covered how far the restored state reaches
   */
  void restore(OwnedShard shard, Promise covered) throws Exception {
    Author by = Objects.requireNonNull(author, "not opened");
    ShardState there = Objects.requireNonNull(found.get(shard), "not opened");
    if (!state.isRestored() && !there.upper().isMinimum()) {
      state.start(there.upper());
    }
    shard.start(state.start());
    if (state.isRestored()) {
      RestoredShard.check(shard.handle(), by, there, covered, shard.start(), state.seen(), policy);
      state.restore(shard.pending());
    }
    shard.saw(there);
    shard.readOnly(
        policy.cuts() && (policy.readOnly() || OtherWriters.isHandedOver(there, by.attempt())));
  }
}
