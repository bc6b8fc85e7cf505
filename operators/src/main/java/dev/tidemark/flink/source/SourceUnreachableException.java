package dev.tidemark.flink.source;

/** Where rows come from can't be reached: one line that names it and the mend. */
public final class SourceUnreachableException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  SourceUnreachableException(String message, Throwable cause) {
    super(message, cause);
  }
}
