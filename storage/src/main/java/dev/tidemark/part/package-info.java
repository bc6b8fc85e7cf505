/** Part files: writing, reading and merging sorted rows. */
@NullMarked
package dev.tidemark.part;

import org.jspecify.annotations.NullMarked;
