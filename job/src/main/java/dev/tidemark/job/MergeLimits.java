package dev.tidemark.job;

import dev.tidemark.flink.SinkSettings;

/**
 * What a merge outside of a job may take, by the options of the job.
 *
 * @param memoryBytes of its inputs (merge.memory)
 * @param chunkBytes at a time (merge.chunk-bytes)
 * @param partBytes the size at which a part of its output is full (part.target-bytes)
 */
public record MergeLimits(long memoryBytes, long chunkBytes, long partBytes) {
  /** Those of a job's own merges. */
  public static MergeLimits of(SinkSettings sink) {
    return new MergeLimits(sink.mergeMemoryBytes(), sink.mergeChunkBytes(), sink.partTargetBytes());
  }

  /** As the options say, where there is no job. */
  public static MergeLimits of(Options options) {
    return new MergeLimits(
        options.value(RunKeys.MERGE_MEMORY),
        options.value(RunKeys.MERGE_CHUNK),
        options.value(RunKeys.PART));
  }
}
