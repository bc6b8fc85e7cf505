package dev.tidemark.job;

/**
 * What a merge outside of a job may take, by the options of the job.
 *
 * @param memoryBytes of its inputs (merge.memory)
 * @param chunkBytes at a time (merge.chunk-bytes)
 * @param partBytes the size at which a part of its output is full (part.target-bytes)
 */
public record MergeLimits(long memoryBytes, long chunkBytes, long partBytes) {
  /** As the options say. */
  public static MergeLimits of(Options options) {
    return new MergeLimits(
        options.value(RunKeys.MERGE_MEMORY),
        options.value(RunKeys.MERGE_CHUNK),
        options.value(RunKeys.PART));
  }
}
