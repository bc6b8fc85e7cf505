/** What tests of several modules share: seeded properties, batches made up by a few figures. */
@NullMarked
package dev.tidemark.testing;

import org.jspecify.annotations.NullMarked;
