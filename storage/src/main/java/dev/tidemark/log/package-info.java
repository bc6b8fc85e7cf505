/** The shard's log: its entries' form, and the one loop that commits. */
@NullMarked
package dev.tidemark.log;

import org.jspecify.annotations.NullMarked;
