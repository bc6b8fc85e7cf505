/** The sink as a library: its settings and the topology it builds. */
@NullMarked
package dev.tidemark.flink;

import org.jspecify.annotations.NullMarked;
