/** A shard's facts, the diffs between versions of them, and the machine that decides diffs. */
@NullMarked
package dev.tidemark.shard;

import org.jspecify.annotations.NullMarked;
