/** Paces the job: says which interval of time the next batches cover. */
@NullMarked
package dev.tidemark.flink.mint;

import org.jspecify.annotations.NullMarked;
