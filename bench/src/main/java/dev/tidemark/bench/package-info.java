/**
 * End-to-end benchmarks: the workloads by which Tidemark compares itself, printed by scripts/bench.
 */
@NullMarked
package dev.tidemark.bench;

import org.jspecify.annotations.NullMarked;
