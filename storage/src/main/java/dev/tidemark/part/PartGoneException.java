package dev.tidemark.part;

import java.io.IOException;

/**
 * A part's object isn't there: it was collected as garbage, or lost. A reader then looks at a newer
 * version of the shard.
 */
public final class PartGoneException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With the part's key and place. */
  public PartGoneException(String message) {
    super(message);
  }
}
