/** The whole protocol of a shard in one process, in virtual time, on a store with faults. */
@NullMarked
package dev.tidemark.sim;

import org.jspecify.annotations.NullMarked;
