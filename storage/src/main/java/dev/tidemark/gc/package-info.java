/** Garbage: what may be deleted, deleting it, and what lies about. */
@NullMarked
package dev.tidemark.gc;

import org.jspecify.annotations.NullMarked;
