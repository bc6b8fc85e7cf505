package dev.tidemark.flink.decode;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A record that the job was told not to put up with, or a file that can't be what it is taken for.
 * Reading it again gives the same, so Flink doesn't restart the job. The message names the origin,
 * never the content.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class BadRecordException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With origin and mend. */
  public BadRecordException(String message) {
    super(message);
  }
}
