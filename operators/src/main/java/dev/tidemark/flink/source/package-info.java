/** Sources: files and generated rows. */
@NullMarked
package dev.tidemark.flink.source;

import org.jspecify.annotations.NullMarked;
