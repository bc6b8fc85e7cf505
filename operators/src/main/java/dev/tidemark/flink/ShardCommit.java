package dev.tidemark.flink;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;

/**
 * A shard has become durable up to a frontier.
 *
 * @param shard the index of the shard in the job's list
 * @param name the shard's name
 * @param seqno the version that the append became
 * @param upper the shard's upper from that version on
 * @param rows the updates that the append brought
 */
public record ShardCommit(int shard, String name, SeqNo seqno, Frontier upper, long rows) {}
