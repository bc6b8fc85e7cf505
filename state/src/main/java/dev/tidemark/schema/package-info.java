/** Schemas: columns, their declared types, and keys. */
@NullMarked
package dev.tidemark.schema;

import org.jspecify.annotations.NullMarked;
