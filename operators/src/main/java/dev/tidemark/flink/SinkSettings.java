package dev.tidemark.flink;

import dev.tidemark.gc.GcSettings;
import dev.tidemark.store.StoreSettings;
import java.io.Serializable;
import java.time.Duration;

/**
 * How the sink of one job works, for all of its shards.
 *
 * @param writer the writer's id, the same over restarts (writer.id)
 * @param store how to reach the store
 * @param writeParallelism the subtasks of write; 0: the job's parallelism
 * @param writeRuns the most runs that a batch of one shard leaves with (write.runs); 0: chosen
 *     (docs/operations.md)
 * @param bufferBytes what one write subtask may hold in memory (write.buffer-bytes)
 * @param partTargetBytes the size at which a part is full (part.target-bytes)
 * @param inlineBytes a batch up to this size travels in the log entry (inline.bytes)
 * @param idleInterval how often a shard without rows is committed (idle.interval)
 * @param merging whether this job merges (merge = here)
 * @param mergeParallelism the subtasks of merge
 * @param mergeMemoryBytes what one merge subtask may hold in memory (merge.memory)
 * @param mergeChunkBytes the row bytes of input after which a merge is cut (merge.chunk-bytes)
 * @param maxStall how long appends may wait for merges before the job fails (spine.max-stall)
 * @param gcInterval how often each shard's garbage is collected (gc.interval)
 * @param gc how carefully (gc.keep, gc.orphan-age)
 * @param start what a job without state does with a shard that has data (start)
 * @param commit when rows become durable, and what others may do to the shards
 */
public record SinkSettings(
    String writer,
    StoreSettings store,
    int writeParallelism,
    int writeRuns,
    long bufferBytes,
    long partTargetBytes,
    int inlineBytes,
    Duration idleInterval,
    boolean merging,
    int mergeParallelism,
    long mergeMemoryBytes,
    long mergeChunkBytes,
    Duration maxStall,
    Duration gcInterval,
    GcSettings gc,
    StartMode start,
    CommitSettings commit)
    implements Serializable {

  /** The defaults, for a writer. */
  public static SinkSettings of(String writer) {
    return new SinkSettings(
        writer,
        StoreSettings.DEFAULT,
        0,
        0,
        64L << 20,
        128L << 20,
        64 << 10,
        Duration.ofMinutes(1),
        true,
        1,
        256L << 20,
        256L << 20,
        Duration.ofMinutes(10),
        Duration.ofMinutes(10),
        GcSettings.DEFAULT,
        StartMode.REFUSE,
        CommitSettings.CHECKPOINT);
  }

  /** The same settings with another way to reach the store. */
  public SinkSettings withStore(StoreSettings other) {
    return new SinkSettings(
        writer,
        other,
        writeParallelism,
        writeRuns,
        bufferBytes,
        partTargetBytes,
        inlineBytes,
        idleInterval,
        merging,
        mergeParallelism,
        mergeMemoryBytes,
        mergeChunkBytes,
        maxStall,
        gcInterval,
        gc,
        start,
        commit);
  }

  /** The same settings with another {@code write.runs}. */
  public SinkSettings withWriteRuns(int other) {
    return with(other, merging, gcInterval, gc, start, commit);
  }

  /** The same settings with another {@code gc.interval} and {@code gc.*}. */
  public SinkSettings withGc(Duration interval, GcSettings settings) {
    return with(writeRuns, merging, interval, settings, start, commit);
  }

  /** The same settings where this job merges or leaves that to another. */
  public SinkSettings withMerging(boolean other) {
    return with(writeRuns, other, gcInterval, gc, start, commit);
  }

  /** The same settings with another {@code start}. */
  public SinkSettings withStart(StartMode other) {
    return with(writeRuns, merging, gcInterval, gc, other, commit);
  }

  /** The same settings with another way to commit. */
  public SinkSettings withCommit(CommitSettings other) {
    return with(writeRuns, merging, gcInterval, gc, start, other);
  }

  private SinkSettings with(
      int runs,
      boolean merges,
      Duration interval,
      GcSettings settings,
      StartMode startMode,
      CommitSettings commits) {
    return new SinkSettings(
        writer,
        store,
        writeParallelism,
        runs,
        bufferBytes,
        partTargetBytes,
        inlineBytes,
        idleInterval,
        merges,
        mergeParallelism,
        mergeMemoryBytes,
        mergeChunkBytes,
        maxStall,
        interval,
        settings,
        startMode,
        commits);
  }
}
