/** The job: its options, and the topology built of them. */
@NullMarked
package dev.tidemark.job;

import org.jspecify.annotations.NullMarked;
