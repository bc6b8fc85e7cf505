package dev.tidemark.cli;

/** Whoever read our output has seen enough. */
final class ClosedPipeException extends RuntimeException {
  private static final long serialVersionUID = 1L;
}
