package dev.tidemark.log;

import dev.tidemark.shard.WriterAttempt;

/**
 * Who made a version, for people: the {@code by} of a log entry.
 *
 * @param attempt the writer's attempt
 * @param role what it was doing: append, install, cli
 */
public record Author(WriterAttempt attempt, String role) {}
