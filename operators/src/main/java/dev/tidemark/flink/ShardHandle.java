package dev.tidemark.flink;

import dev.tidemark.log.Author;
import dev.tidemark.log.CommitResult;
import dev.tidemark.log.ShardLog;
import dev.tidemark.part.PartKeys;
import dev.tidemark.part.PartStore;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.Command;
import dev.tidemark.shard.ShardState;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One shard as the subtasks of a job in this JVM see it: its log, its parts, and the shard made
 * where there is none yet. Shared and counted ({@link ShardHandles}); thread-safe.
 */
public final class ShardHandle implements AutoCloseable {
  private static final PartKeys KEYS = new PartKeys(Clock.systemUTC(), new SecureRandom());

  private final ShardHandles.Key key;
  private final ShardTarget target;
  private final ObjectStore store;
  private final ShardLog log;
  private final long partTargetBytes;
  private final MergeProgress progress = new MergeProgress();
  private @Nullable PartStore parts;
  private @Nullable Schema schema;

  ShardHandle(ShardHandles.Key key, ShardTarget target, ObjectStore store, long partTargetBytes) {
    this.key = key;
    this.target = target;
    this.store = store;
    this.log = new ShardLog(store);
    this.partTargetBytes = partTargetBytes;
  }

  /** The shard as the job names it. */
  public ShardTarget target() {
    return target;
  }

  /** How far the shard's merges are. */
  public MergeProgress progress() {
    return progress;
  }

  /** The shard's log. */
  public ShardLog log() {
    return log;
  }

  /**
   * Reads the log on; makes the shard if there is none; checks that its schema is the job's, or
   * lets it follow the job's. A shard that the job only merges is left as it is.
   *
   * @throws StopForGoodException when the schema is another
   */
  public synchronized ShardState open(Author by) throws IOException {
    ShardState state = log.refresh();
    if (!target.isWritten()) {
      if (!state.exists()) {
        throw new IOException(target.url() + " isn't there: the job that writes it makes it");
      }
      return state;
    }
    if (!state.exists()) {
      Command create =
          new Command.Create(
              newId(),
              new Schema(1, target.schema().columns(), target.schema().key()),
              target.spec());
      CommitResult made = log.commit(create, by);
      state = made.state();
    }
    ShardStart.checkSchema(target, state);
    if (target.evolves()) {
      CommitResult evolved = log.commit(new Command.EvolveSchema(target.schema()), by);
      state = evolved.state();
      if (evolved instanceof CommitResult.Refused refused) {
        throw ShardStart.otherSchema(target, state, refused.refusal().message());
      }
    }
    schema = state.schema();
    return state;
  }

  /**
   * The schema in which this job writes rows, by the ids of its shard; the shard is opened by
   * {@code by} if nobody has yet.
   */
  public synchronized Schema schema(Author by) throws IOException {
    if (schema == null) {
      open(by);
    }
    return Objects.requireNonNull(schema, "a shard that isn't written has no schema of the job's");
  }

  /** The shard's parts; the shard is opened by {@code by} if nobody has yet. */
  public synchronized PartStore parts(Author by) throws IOException {
    if (parts == null) {
      ShardState known = log.known();
      ShardState state = known.exists() ? known : open(by);
      parts = new PartStore(store, state.shard(), partTargetBytes, KEYS);
    }
    return parts;
  }

  /** An id that nothing else has: for shards, batches and attempts. */
  public static String newId() {
    return KEYS.id();
  }

  /** Gives the handle back; the last one closes the store. */
  @Override
  public void close() {
    if (ShardHandles.release(key)) {
      store.close();
    }
  }
}
