/** Programs to start from. */
@NullMarked
package dev.tidemark.example;

import org.jspecify.annotations.NullMarked;
