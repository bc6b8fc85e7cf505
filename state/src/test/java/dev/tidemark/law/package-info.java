/** The seven consequences of the spine's rules, each a test class, over histories of many kinds. */
@NullMarked
package dev.tidemark.law;

import org.jspecify.annotations.NullMarked;
