package dev.tidemark.log;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Bytes that should be a log entry can't be read as one. */
public final class LogFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean newerFormat;

  /** With the key, the place, and the mend. */
  public LogFormatException(String message, boolean newerFormat, @Nullable Throwable cause) {
    super(message, cause);
    this.newerFormat = newerFormat;
  }

  /** Whether the bytes are of a format that this build doesn't know. */
  public boolean newerFormat() {
    return newerFormat;
  }
}
