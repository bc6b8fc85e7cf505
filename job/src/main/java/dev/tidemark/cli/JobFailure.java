package dev.tidemark.cli;

import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.store.StoreException;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/** Why a job failed, in one line: the cause that says most, not Flink's wrapping. */
final class JobFailure {
  private static final int MOST_CAUSES = 50;

  private JobFailure() {}

  /**
   * Why it failed.
   *
   * @param others asked who else has written the shards: a job that was taken over fails by
   *     whatever the other deleted first, a checkpoint say
   */
  static CommandException of(Throwable thrown, Supplier<Optional<String>> others) {
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
    Optional<String> other =
        deepest instanceof StopForGoodException ? Optional.empty() : others.get();
    String why = other.map(text -> text + " (it failed by: " + reason + ")").orElse(reason);
    return new CommandException(Exit.JOB, "the job failed: " + Failures.oneLine(why), thrown);
  }

  private static Throwable real(Throwable thrown) {
    return thrown instanceof SerializedThrowable serialized
        ? serialized.deserializeError(JobFailure.class.getClassLoader())
        : thrown;
  }
}
