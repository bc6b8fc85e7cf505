package dev.tidemark.shard;

import java.io.Serializable;

/**
 * Who writes: one attempt of one writer. Attempts of a writer are ordered by (started, attempt).
 *
 * @param writer the writer's id, the same over restarts
 * @param started when this attempt began, ISO-8601, for ordering among attempts of this writer only
 * @param attempt unique to the attempt
 * @param host where it runs, for people
 */
public record WriterAttempt(String writer, String started, String attempt, String host)
    implements Serializable {}
