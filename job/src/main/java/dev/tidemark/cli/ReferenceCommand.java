package dev.tidemark.cli;

import dev.tidemark.job.OptionReference;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tidemark reference}: every option, as conf/reference.md. */
@Command(
    name = "reference",
    description = "Every option with its default and the reason for it: conf/reference.md.")
final class ReferenceCommand implements Callable<Integer> {
  private final Context context;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  ReferenceCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    OptionReference.markdown().lines().forEach(context.out()::line);
    return Exit.DONE;
  }
}
