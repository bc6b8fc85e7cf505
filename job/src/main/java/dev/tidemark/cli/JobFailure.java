package dev.tidemark.cli;

import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.store.StoreException;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** Why a job failed, in one line: the cause that says most, not Flink's wrapping. */
final class JobFailure {
  private static final int MOST_CAUSES = 50;

  private JobFailure() {}

  static CommandException of(Throwable thrown) {
    @Nullable Throwable cause = thrown;
    Throwable deepest = thrown;
    for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
      Throwable real = real(cause);
      deepest = real;
      if (real instanceof StopForGoodException || real instanceof StoreException) {
        break;
      }
      cause = real.getCause();
    }
    boolean named = deepest instanceof StopForGoodException || deepest instanceof StoreException;
    String reason =
        named || deepest.getMessage() != null
            ? String.valueOf(deepest.getMessage())
            : deepest.toString();
    return new CommandException(Exit.JOB, "the job failed: " + Failures.oneLine(reason), thrown);
  }

  private static Throwable real(Throwable thrown) {
    return thrown instanceof SerializedThrowable serialized
        ? serialized.deserializeError(JobFailure.class.getClassLoader())
        : thrown;
  }
}
