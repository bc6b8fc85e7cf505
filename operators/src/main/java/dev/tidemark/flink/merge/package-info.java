/** Merges runs, beside the way of the rows. */
@NullMarked
package dev.tidemark.flink.merge;

import org.jspecify.annotations.NullMarked;
