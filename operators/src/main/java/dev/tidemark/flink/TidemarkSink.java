package dev.tidemark.flink;

import dev.tidemark.flink.append.AppendOperator;
import dev.tidemark.flink.append.AppendOptions;
import dev.tidemark.flink.install.InstallOperator;
import dev.tidemark.flink.install.InstallOptions;
import dev.tidemark.flink.merge.MergeOperator;
import dev.tidemark.flink.merge.MergeOptions;
import dev.tidemark.flink.message.DescriptionSerializer;
import dev.tidemark.flink.message.MergeTask;
import dev.tidemark.flink.message.MergedChunk;
import dev.tidemark.flink.message.Update;
import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.flink.mint.MintOperator;
import dev.tidemark.flink.mint.WatermarksOnly;
import dev.tidemark.flink.spine.SpineOperator;
import dev.tidemark.flink.spine.SpineOptions;
import dev.tidemark.flink.write.WriteOperator;
import dev.tidemark.flink.write.WriteOptions;
import dev.tidemark.spine.SpineSpec;
import dev.tidemark.time.BatchDescription;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.WithBoundedness;

/**
 * Makes a stream of updates durable as shards: mint, write and append, and on a side path spine,
 * merge and install (docs/concepts.md). Every operator has a uid.
 *
 * <p>What it counts, as accumulators named {@code tidemark.<shard>.<counter>}, of the last attempt:
 *
 * <ul>
 *   <li>{@code staged}: updates that write handed to a batch; {@code retimed}: those of them that
 *       came too late for their own time
 *   <li>{@code committed}: updates in versions that this job's append made; {@code appendedBytes}:
 *       their row bytes; {@code commits}: those versions
 *   <li>{@code late}, {@code replayed}: records that write left out with commit = frontier, since
 *       their time was closed, or since the shard had them already; the same are taken from {@code
 *       stored} or {@code error}, which the input side counts
 *   <li>{@code displaced}: batches that gave way to what another writer had appended
 *   <li>{@code stallMillis}: for how long at least one append waited for merges
 *   <li>{@code merges}: merges that this job installed; {@code mergedBytes}: the row bytes of their
 *       outputs
 * </ul>
 */
public final class TidemarkSink {
  /**
   * The slot sharing group of merge: it needs {@link SinkSettings#mergeParallelism} slots of its
   * own beside those of the job.
   */
  public static final String MERGE_GROUP = "merge";

  private static final String DEFAULT_GROUP = "default";

  private TidemarkSink() {}

  /**
   * Writes a stream of rows as one shard.
   *
   * @param url where the shard lies: {@code s3://bucket/warehouse/name}, {@code file:///path/name}
   * @param settings who writes it, and how
   */
  public static ShardSink forShard(String url, SinkSettings settings) {
    return new ShardSink(url, settings);
  }

  /** The slots of a job with these shards, by which its source computes {@link Update#slotKey}. */
  public static SlotKeys slotKeys(
      List<ShardTarget> shards, SinkSettings settings, int parallelism, int maxParallelism) {
    int writers = settings.writeParallelism() > 0 ? settings.writeParallelism() : parallelism;
    int freshRuns = Integer.MAX_VALUE;
    for (ShardTarget shard : shards) {
      SpineSpec spec = shard.spec();
      freshRuns = Math.min(freshRuns, spec.freshRuns());
    }
    int wanted = settings.writeRuns() > 0 ? settings.writeRuns() : ceilDiv(writers, shards.size());
    if (settings.writeRuns() > freshRuns) {
      throw new IllegalArgumentException(
          "write.runs is "
              + settings.writeRuns()
              + ", but a batch may have at most half of shard.spec.fan-in runs, "
              + freshRuns);
    }
    return new SlotKeys(shards.size(), Math.min(wanted, freshRuns), maxParallelism);
  }

  private static MintOperator mintOperator(CommitSettings commit) {
    return commit.isFrontier() ? new MintOperator(commit.mintInterval()) : new MintOperator();
  }

  private static int ceilDiv(int amount, int by) {
    return (amount + by - 1) / by;
  }

  /**
   * Builds the topology behind {@code updates}, whose watermarks say which times are complete.
   *
   * @return what became durable, shard by shard; a job may wait on it
   * @throws IllegalArgumentException naming the mend, when the settings don't go together ({@link
   *     CommitRules}) or the runtime mode is not STREAMING. What it can't know: with {@code late =
   *     drop} there may be no retractions among the updates
   */
  public static DataStream<ShardCommit> append(
      DataStream<Update> updates, List<ShardTarget> shards, SinkSettings settings, SlotKeys slots) {
    StreamExecutionEnvironment env = updates.getExecutionEnvironment();
    checkMode(env);
    CommitRules.require(settings.commit(), settings.start(), isCheckpointed(env), Map.of());
    int writers =
        settings.writeParallelism() > 0 ? settings.writeParallelism() : env.getParallelism();

    SingleOutputStreamOperator<Update> watermarks =
        updates
            .transform("watermarks", Update.TYPE, new WatermarksOnly())
            .uid("tidemark-watermarks")
            .setParallelism(updates.getParallelism());
    SingleOutputStreamOperator<BatchDescription> mint =
        aligned(watermarks.global())
            .transform("mint", DescriptionSerializer.TYPE, mintOperator(settings.commit()))
            .uid("tidemark-mint")
            .setParallelism(1)
            .setMaxParallelism(1);

    KeyedStream<Update, Integer> rows = aligned(updates.keyBy(row -> row.slotKey, Types.INT));
    SingleOutputStreamOperator<WrittenBatch> write =
        rows.connect(aligned(mint.broadcast()))
            .transform(
                "write", WrittenBatch.TYPE, new WriteOperator(new WriteOptions(shards, settings)))
            .uid("tidemark-write")
            .setParallelism(writers)
            .setMaxParallelism(slots.maxParallelism());

    SingleOutputStreamOperator<ShardCommit> commits =
        aligned(write.keyBy(batch -> slots.shardKey(batch.shard()), Types.INT))
            .transform(
                "append",
                ShardCommit.TYPE,
                new AppendOperator(
                    new AppendOptions(
                        shards, settings, slots, settings.merging() || !isBounded(updates))))
            .uid("tidemark-append")
            .setParallelism(Math.min(env.getParallelism(), shards.size()))
            .setMaxParallelism(slots.maxParallelism());
    sidePath(commits, shards, settings);
    return commits;
  }

  /**
   * Whether the input ends. It isn't held back then in a job that leaves merging to others: append
   * makes room itself at the end, but a source that is held never comes to it.
   */
  static boolean isBounded(DataStream<?> updates) {
    return updates.getTransformation().getTransitivePredecessors().stream()
        .filter(WithBoundedness.class::isInstance)
        .allMatch(source -> ((WithBoundedness) source).getBoundedness() == Boundedness.BOUNDED);
  }

  /**
   * Builds a job that appends nothing: it merges shards that other jobs write, and moves their
   * since and collects their garbage. What is written it learns from the logs, at each tick.
   *
   * @param shards what to merge; one that isn't there yet is waited for
   * @throws IllegalArgumentException when checkpointing is off or the runtime mode is not STREAMING
   */
  public static void compact(
      StreamExecutionEnvironment env, List<ShardTarget> shards, SinkSettings settings) {
    checkMode(env);
    if (!isCheckpointed(env)) {
      throw new IllegalArgumentException(
          "checkpointing is off, and what nobody names any more would never be known to be garbage:"
              + " set checkpoint.interval");
    }
    sidePath(ShardTicks.stream(env, shards), shards, settings);
  }

  /**
   * What keeps the spines within their specs; nothing in it may hold up a barrier. Spine and
   * install are one subtask each, for all shards: they decide and commit, the work is merge's.
   *
   * <p>With merge = elsewhere it is there and does nothing, so that a job can be restored under
   * either setting: Flink refuses state that no operator wants.
   */
  private static void sidePath(
      DataStream<ShardCommit> commits, List<ShardTarget> shards, SinkSettings settings) {
    SingleOutputStreamOperator<MergeTask> spine =
        commits
            .global()
            .transform(
                "spine", MergeTask.TYPE, new SpineOperator(new SpineOptions(shards, settings)))
            .uid("tidemark-spine")
            .setParallelism(1)
            .setMaxParallelism(1);
    SingleOutputStreamOperator<MergedChunk> merge =
        spine
            .rebalance()
            .transform(
                "merge", MergedChunk.TYPE, new MergeOperator(new MergeOptions(shards, settings)))
            .uid("tidemark-merge")
            .slotSharingGroup(settings.merging() ? MERGE_GROUP : DEFAULT_GROUP)
            .setParallelism(settings.merging() ? settings.mergeParallelism() : 1);
    spine
        .getSideOutput(SpineOperator.CHANGES)
        .global()
        .connect(merge.global())
        .transform("install", Types.VOID, new InstallOperator(new InstallOptions(shards, settings)))
        .uid("tidemark-install")
        .slotSharingGroup(DEFAULT_GROUP)
        .setParallelism(1)
        .setMaxParallelism(1);
  }

  static boolean isCheckpointed(StreamExecutionEnvironment env) {
    return env.getCheckpointConfig().isCheckpointingEnabled();
  }

  private static void checkMode(StreamExecutionEnvironment env) {
    RuntimeExecutionMode mode = env.getConfiguration().get(ExecutionOptions.RUNTIME_MODE);
    if (mode != RuntimeExecutionMode.STREAMING) {
      throw new IllegalArgumentException(
          "execution.runtime-mode is "
              + mode
              + ": Tidemark needs STREAMING, for bounded input too");
    }
  }

  /**
   * Rows must not overtake the barrier before which their description closes, so the edges into
   * mint, write and append stay aligned whatever the job is set to, as Flink's own sinks have it.
   */
  private static <S extends DataStream<?>> S aligned(S edge) {
    ((PartitionTransformation<?>) edge.getTransformation())
        .getPartitioner()
        .disableUnalignedCheckpoints();
    return edge;
  }
}
