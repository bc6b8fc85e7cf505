package dev.tidemark.cli;

import dev.tidemark.flink.source.SourceUnreachableException;
import dev.tidemark.hold.HoldLostException;
import dev.tidemark.job.OptionException;
import dev.tidemark.log.LogFormatException;
import dev.tidemark.part.PartGoneException;
import dev.tidemark.read.ReadRefusedException;
import dev.tidemark.shard.CorruptShardException;
import dev.tidemark.store.StoreException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** What an exception means for whoever called: an exit code and one line. */
final class Failures {
  /**
   * What to say.
   *
   * @param code the exit code
   * @param line one line that names the thing and the mend; empty: nothing
   */
  record Verdict(int code, String line) {}

  private static final int MOST_CAUSES = 20;

  private Failures() {}

  static Verdict of(Throwable thrown) {
    @Nullable Throwable cause = thrown;
    for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
      @Nullable Verdict known = known(cause);
      if (known != null) {
        return known;
      }
      cause = cause.getCause();
    }
    return new Verdict(
        Exit.JOB,
        "unexpected " + oneLine(thrown.toString()) + "; --debug shows where it came from");
  }

  private static @Nullable Verdict known(Throwable thrown) {
    String line = oneLine(String.valueOf(thrown.getMessage()));
    if (thrown instanceof CommandException e) {
      return new Verdict(e.code(), line);
    }
    if (thrown instanceof ClosedPipeException) {
      return new Verdict(Exit.DONE, "");
    }
    if (thrown instanceof OptionException) {
      return new Verdict(Exit.USAGE, line);
    }
    if (thrown instanceof ReadRefusedException
        || thrown instanceof HoldLostException
        || thrown instanceof PartGoneException
        || thrown instanceof CorruptShardException) {
      return new Verdict(Exit.NO, line);
    }
    if (thrown instanceof LogFormatException e) {
      return new Verdict(e.newerFormat() ? Exit.USAGE : Exit.NO, line);
    }
    if (thrown instanceof StoreException e) {
      return new Verdict(e.reason() == StoreException.Reason.CORRUPT ? Exit.NO : Exit.STORE, line);
    }
    if (thrown instanceof SourceUnreachableException) {
      return new Verdict(Exit.STORE, line);
    }
    if (thrown instanceof UncheckedIOException && thrown.getCause() == null) {
      return new Verdict(Exit.STORE, line);
    }
    return null;
  }

  /** A text without line breaks, so that an error is one line. */
  static String oneLine(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
