package dev.tidemark.store;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A request to an object store failed. Either it certainly changed nothing, or nobody knows: a
 * caller that wrote must then look before it goes on ({@link #indeterminate()}).
 */
public final class StoreException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Reason {
    /** No answer, a cut answer, a server error: may go away. */
    UNAVAILABLE,
    /** The store asks for fewer requests. */
    THROTTLED,
    /** Two conditional requests met and nobody is known to have won: ask again. */
    CONFLICT,
    /** Credentials or rights are missing. */
    DENIED,
    /** There is no such bucket, or folder that could be made. */
    NO_BUCKET,
    /** What came back isn't what was stored. */
    CORRUPT,
    /** The store can't do what Tidemark needs of it. */
    UNSUPPORTED,
    /** Anything else. */
    OTHER
  }

  private final Reason reason;
  private final boolean indeterminate;

  /** With one line that names the operation, the key and the mend. */
  public StoreException(
      Reason reason, boolean indeterminate, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.indeterminate = indeterminate;
  }

  /** Why it failed. */
  public Reason reason() {
    return reason;
  }

  /** Whether the request may have taken effect. */
  public boolean indeterminate() {
    return indeterminate;
  }

  /** Whether the same request may succeed later. */
  public boolean retryable() {
    return reason == Reason.UNAVAILABLE || reason == Reason.THROTTLED || reason == Reason.CONFLICT;
  }
}
