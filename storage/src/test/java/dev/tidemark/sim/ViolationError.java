package dev.tidemark.sim;

/** An invariant doesn't hold. An error, so that no handler of a storage failure takes it. */
final class ViolationError extends AssertionError {
  private static final long serialVersionUID = 1L;

  private final String invariant;

  /**
   * With what contradicts what.
   *
   * @param invariant its name in the list of invariants, I1 to I7
   */
  ViolationError(String invariant, String what) {
    super(invariant + ": " + what);
    this.invariant = invariant;
  }

  ViolationError(String invariant, String what, Throwable cause) {
    super(invariant + ": " + what, cause);
    this.invariant = invariant;
  }

  String invariant() {
    return invariant;
  }
}
