package dev.tidemark.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidemark retire}: a shard's end. */
@Command(
    name = "retire",
    description =
        "Gives a shard up for good: seals it, makes every time of it unreadable; garbage collection then empties it step by step. Refused while somebody holds it.")
final class RetireCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  RetireCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      Admin.refuseHeld(context, url, shard.log());
      return Admin.commit(
          context,
          reader.json,
          url,
          shard.log(),
          new dev.tidemark.shard.Command.Retire(Admin.batchId()));
    }
  }
}
