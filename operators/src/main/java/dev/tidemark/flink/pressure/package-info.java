/** How append's pressure comes back to the readers of the job's source, and holds them. */
@NullMarked
package dev.tidemark.flink.pressure;

import org.jspecify.annotations.NullMarked;
