package dev.tidemark.row;

/** A row doesn't fit its schema. The message names column and reason. */
public final class InvalidRowException extends Exception {
  private static final long serialVersionUID = 1L;

  /** With column and reason. */
  public InvalidRowException(String message) {
    super(message);
  }
}
