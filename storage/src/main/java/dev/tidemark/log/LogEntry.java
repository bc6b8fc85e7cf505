package dev.tidemark.log;

import dev.tidemark.shard.Diff;
import dev.tidemark.shard.SeqNo;

/**
 * One version of a shard as it lies in the log.
 *
 * @param format the format's version, such as 1.0
 * @param shard the shard's random id
 * @param seqno the version
 * @param nonce tells this very write from all others
 * @param at when it was made by the writer's clock, ISO-8601, for people only
 * @param by who made it
 * @param command what was asked, {@code rollup} for a rollup
 * @param diff what changed
 */
public record LogEntry(
    String format,
    String shard,
    SeqNo seqno,
    String nonce,
    String at,
    Author by,
    String command,
    Diff diff) {}
