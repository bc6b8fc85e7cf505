package dev.tidemark.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark report}: how a shard's spine went, as one page. */
@Command(
    name = "report",
    description =
        "One self-contained HTML page: the spine over time against its bounds, commits, sizes, cost, as far as the log is kept. --json: its data.")
final class ReportCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(names = "--out", paramLabel = "FILE", description = "The page to write.")
  private @Nullable Path file;

  @Option(
      names = "--prices",
      paramLabel = "FILE",
      description = "What the store bills (default: conf/prices.yaml).")
  private @Nullable Path pricesFile;

  ReportCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Path out = file;
    if (out == null && !reader.json) {
      throw new CommandException(Exit.USAGE, "where to? Write --out FILE.html, or --json");
    }
    Prices prices = Prices.of(pricesFile);
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      ReportData data = ReportData.of(shard.url(), shard.log(), shard.state(), prices);
      if (reader.json) {
        context.out().line(Json.text(data.json()));
      }
      if (out != null) {
        write(out, ReportPage.html(data));
        if (!reader.json) {
          context.out().line(out + ": versions " + data.from() + " to " + data.to());
        }
      }
    }
    return Exit.DONE;
  }

  private static void write(Path out, String html) {
    try {
      Files.writeString(out, html, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new CommandException(
          Exit.USAGE, "can't write " + out + " (" + e + "): name a file in a folder that is there");
    }
  }
}
