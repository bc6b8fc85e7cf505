package dev.tidemark.hold;

import java.io.IOException;

/**
 * A reader's hold has expired or was dropped, and what it read is no longer there. What was given
 * so far was right, and no more comes.
 */
public final class HoldLostException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With the hold, the time it was for, and the shard's since. */
  public HoldLostException(String message) {
    super(message);
  }
}
