/** Makes written batches durable in the shards' logs, exactly once. */
@NullMarked
package dev.tidemark.flink.append;

import org.jspecify.annotations.NullMarked;
