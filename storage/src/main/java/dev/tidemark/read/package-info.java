/** Reading a shard at a time. */
@NullMarked
package dev.tidemark.read;

import org.jspecify.annotations.NullMarked;
