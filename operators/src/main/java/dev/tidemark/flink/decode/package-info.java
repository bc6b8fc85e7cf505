/** From a source's raw records to updates of shards. */
@NullMarked
package dev.tidemark.flink.decode;

import org.jspecify.annotations.NullMarked;
