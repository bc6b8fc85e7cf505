/** Frontiers and the intervals between them. */
@NullMarked
package dev.tidemark.time;

import org.jspecify.annotations.NullMarked;
