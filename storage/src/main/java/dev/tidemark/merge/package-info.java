/** Merging the runs of a shard: the work, and doing one piece of it after another. */
@NullMarked
package dev.tidemark.merge;

import org.jspecify.annotations.NullMarked;
