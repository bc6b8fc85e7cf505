package dev.tidemark.row;

import java.io.IOException;

/**
 * Updates one after another, in the order of a run: by row bytes, then time. What {@link #row()}
 * gives may change at the next call of {@link #next()}.
 */
public interface UpdateCursor extends AutoCloseable {
  /** Moves on to the next update; false at the end. */
  boolean next() throws IOException;

  /** The array that holds the encoded row. */
  byte[] row();

  /** Where in it the row begins. */
  int rowOffset();

  /** How long the row is. */
  int rowLength();

  /** The update's time in milliseconds. */
  long time();

  /** How many times the row is added (below zero: taken away). Never 0. */
  long diff();

  @Override
  default void close() throws IOException {}
}
