package dev.tidemark.flink;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * The job must not go on, and trying again would end the same way: another writer, a log that went
 * back, a schema that isn't the shard's. Flink doesn't restart after it. The message names what is
 * in the way and the mend.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class StopForGoodException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With one line for people. */
  public StopForGoodException(String message) {
    super(message);
  }
}
