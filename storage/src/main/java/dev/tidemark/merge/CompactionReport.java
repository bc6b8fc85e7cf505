package dev.tidemark.merge;

import dev.tidemark.shard.ShardState;

/**
 * What compacting a shard came to.
 *
 * @param before the shard as it was
 * @param after the shard as it is
 * @param merges merges installed
 * @param promotions batches that went up a level as they are
 * @param lost merges that somebody else was faster with: work thrown away
 * @param bytesRead row bytes of the inputs of all merges, installed or lost
 * @param bytesWritten row bytes of their outputs
 * @param stopped whether it was stopped before all was done
 */
public record CompactionReport(
    ShardState before,
    ShardState after,
    long merges,
    long promotions,
    long lost,
    long bytesRead,
    long bytesWritten,
    boolean stopped) {}
