/** Puts merges, promotions and since into the shards' logs. */
@NullMarked
package dev.tidemark.flink.install;

import org.jspecify.annotations.NullMarked;
