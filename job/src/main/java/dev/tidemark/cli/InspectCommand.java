package dev.tidemark.cli;

import dev.tidemark.hold.Holds;
import dev.tidemark.store.ObjectInfo;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidemark inspect}: one shard, looked at closely. */
@Command(
    name = "inspect",
    description =
        "One shard: frontiers, schema, spec and bounds against now, levels with their batches, writers, sizes.")
final class InspectCommand implements Callable<Integer> {
  private static final int PAGE = 1000;

  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  InspectCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      ShardPortrait portrait =
          new ShardPortrait(
              shard.url(),
              shard.state(),
              SpineFigures.of(shard.state()),
              sizes(shard),
              new Holds(shard.log()).list(),
              context.clock().instant());
      if (reader.json) {
        context.out().line(Json.text(portrait.json()));
      } else {
        portrait.text().forEach(context.out()::line);
      }
    }
    return Exit.DONE;
  }

  private static ShardPortrait.Sizes sizes(ReaderOptions.Shard shard) throws IOException {
    long live = ShardPortrait.storedBytes(shard.state());
    long parts = bytes(shard.store(), "part/");
    return new ShardPortrait.Sizes(
        live,
        bytes(shard.store(), "log/"),
        bytes(shard.store(), "rollup/"),
        Math.max(0, parts - live));
  }

  private static long bytes(ObjectStore store, String prefix) throws IOException {
    long bytes = 0;
    String after = "";
    while (true) {
      List<ObjectInfo> page = store.list(prefix, after, PAGE);
      bytes += page.stream().mapToLong(ObjectInfo::sizeBytes).sum();
      if (page.size() < PAGE) {
        return bytes;
      }
      after = page.get(page.size() - 1).key();
    }
  }
}
