/** Collects rows by slot and turns them into parts when a description closes. */
@NullMarked
package dev.tidemark.flink.write;

import org.jspecify.annotations.NullMarked;
