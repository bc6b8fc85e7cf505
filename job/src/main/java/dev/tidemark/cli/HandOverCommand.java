package dev.tidemark.cli;

import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Shards;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark hand-over}: who may write. */
@Command(
    name = "hand-over",
    description =
        "Lets one writer write and makes every other that is known read-only: one version a shard, safe to repeat, undone the same way.")
final class HandOverCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", arity = "0..*", description = "URLs or paths.")
  private List<String> urls = List.of();

  @Option(
      names = "--writer",
      paramLabel = "ID",
      required = true,
      description = "The writer.id that may write from now on.")
  private String writer = "";

  @Option(
      names = "--warehouse",
      paramLabel = "WAREHOUSE",
      description = "With --all: every shard of this folder.")
  private @Nullable String warehouse;

  @Option(names = "--all", description = "Every shard of the warehouse.")
  private boolean all;

  HandOverCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    String folder = warehouse;
    if ((folder != null) != all || urls.isEmpty() != all) {
      throw new CommandException(
          Exit.USAGE, "name shards, or write --warehouse WAREHOUSE --all for every shard of it");
    }
    var command = new dev.tidemark.shard.Command.HandOver(writer);
    if (folder != null) {
      try (ObjectStore store = reader.open(context, folder)) {
        for (String name : Shards.names(store)) {
          ShardLog log = new ShardLog(store.under(name + "/"));
          Admin.commit(context, reader.json, name, log, command);
        }
      }
    }
    for (String url : urls) {
      try (ReaderOptions.Shard shard = reader.shard(context, url)) {
        Admin.commit(context, reader.json, url, shard.log(), command);
      }
    }
    return Exit.DONE;
  }
}
