/** The port to object stores, and its memory and file forms. */
@NullMarked
package dev.tidemark.store;

import org.jspecify.annotations.NullMarked;
