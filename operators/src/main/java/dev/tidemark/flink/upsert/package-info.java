/** From rows of keys to retractions and additions. */
@NullMarked
package dev.tidemark.flink.upsert;

import org.jspecify.annotations.NullMarked;
