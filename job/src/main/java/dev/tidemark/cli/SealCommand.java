package dev.tidemark.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidemark seal}: nothing comes after this. */
@Command(
    name = "seal",
    description =
        "Closes a shard for good: its upper becomes the end, and nothing can be appended any more. Reading and merging go on.")
final class SealCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  SealCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      return Admin.commit(
          context,
          reader.json,
          url,
          shard.log(),
          new dev.tidemark.shard.Command.Seal(Admin.batchId()));
    }
  }
}
