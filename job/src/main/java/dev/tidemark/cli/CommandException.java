package dev.tidemark.cli;

import org.jspecify.annotations.Nullable;

/** A command ends here, with an exit code and one line for people. */
final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int code;

  CommandException(int code, String message) {
    this(code, message, null);
  }

  CommandException(int code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  int code() {
    return code;
  }
}
