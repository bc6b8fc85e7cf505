package dev.tidemark.flink.decode;

import java.io.Serializable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How watermarks follow the rows.
 *
 * @param delay how far they stay behind the latest row
 * @param idleTimeout after how long a silent partition no longer holds them; null: never
 * @param byPartition whether the source says which partitions a reader has, by marks, so that each
 *     of them holds the watermark; else a reader's rows are one sequence
 */
public record WatermarkSettings(Duration delay, @Nullable Duration idleTimeout, boolean byPartition)
    implements Serializable {}
