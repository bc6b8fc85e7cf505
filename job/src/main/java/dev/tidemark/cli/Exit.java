package dev.tidemark.cli;

/** The exit codes, as docs/operations.md lists them. */
final class Exit {
  /** Done. */
  static final int DONE = 0;

  /** The answer is no: damage found, a comparison differs, a time that can't be read. */
  static final int NO = 1;

  /** Wrong usage or wrong input. */
  static final int USAGE = 2;

  /** The store or the cluster. */
  static final int STORE = 3;

  /** The job ran and failed. */
  static final int JOB = 4;

  /** Ctrl-C. */
  static final int INTERRUPTED = 130;

  /** SIGTERM. */
  static final int TERMINATED = 143;

  private Exit() {}
}
