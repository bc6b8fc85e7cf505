package dev.tidemark.cli;

import java.io.PrintStream;
import java.time.Clock;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What every command works with.
 *
 * @param out standard output
 * @param err standard error, for errors and progress
 * @param options {@code --key value} pairs of the command line
 * @param environment the process's environment
 * @param clock for lags and progress
 */
record Context(
    Output out,
    PrintStream err,
    Map<String, String> options,
    Map<String, String> environment,
    Clock clock) {
  /** Where lines of progress go: to standard error when standard output has one JSON document. */
  Consumer<String> progress(boolean json) {
    return json
        ? err::println
        : line -> {
          out.line(line);
          out.flush();
        };
  }
}
