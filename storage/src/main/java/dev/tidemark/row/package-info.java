/** Rows as bytes: encoding, order, equality and size, defined once; the buffer that sorts them. */
@NullMarked
package dev.tidemark.row;

import org.jspecify.annotations.NullMarked;
