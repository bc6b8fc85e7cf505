/** Watches the shards' batches and asks for merges. */
@NullMarked
package dev.tidemark.flink.spine;

import org.jspecify.annotations.NullMarked;
