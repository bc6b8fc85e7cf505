/** Holds: what a reader that takes long asks of those who destroy. */
@NullMarked
package dev.tidemark.hold;

import org.jspecify.annotations.NullMarked;
