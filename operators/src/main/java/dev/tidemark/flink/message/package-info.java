/** What crosses between the operators. */
@NullMarked
package dev.tidemark.flink.message;

import org.jspecify.annotations.NullMarked;
