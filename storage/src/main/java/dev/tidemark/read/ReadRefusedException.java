package dev.tidemark.read;

import java.io.IOException;

/** A read asks for a time that the shard can't give: before since, or at or past the upper. */
public final class ReadRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With both frontiers and the mend. */
  public ReadRefusedException(String message) {
    super(message);
  }
}
