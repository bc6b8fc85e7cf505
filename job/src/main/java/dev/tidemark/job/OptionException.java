package dev.tidemark.job;

/** What the user asked for can't be: wrong usage or wrong input. One line that names the mend. */
public final class OptionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With one line that names the thing and the mend. */
  public OptionException(String message) {
    super(message);
  }
}
