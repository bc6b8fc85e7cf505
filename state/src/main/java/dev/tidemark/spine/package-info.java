/** The spine: batches in levels, the spec that bounds them, and the planner of merges. */
@NullMarked
package dev.tidemark.spine;

import org.jspecify.annotations.NullMarked;
