package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Shards;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Batch;
import dev.tidemark.spine.Part;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidemark ls}: the shards of a warehouse. */
@Command(
    name = "ls",
    description = "The shards of a warehouse: rows, upper and lag, runs, errors, who writes.")
final class LsCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "WAREHOUSE", description = "The folder of the shards: a URL or a path.")
  private String warehouse = "";

  LsCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    TextTable table = new TextTable();
    table.row("shard", "rows", "upper", "lag", "runs", "bound", "errors", "version", "writers");
    int shards = 0;
    try (ObjectStore store = reader.open(context, warehouse)) {
      for (String name : Shards.names(store)) {
        ShardLog log = new ShardLog(store.under(name + "/"));
        ShardState state = log.refresh();
        shards++;
        show(name, state, SpineFigures.of(state), table);
      }
    }
    if (!reader.json) {
      if (shards == 0) {
        context.err().println("no shards in " + warehouse);
      } else {
        table.print(context.out());
      }
    }
    return Exit.DONE;
  }

  private void show(String name, ShardState state, SpineFigures figures, TextTable table) {
    List<String> writers = state.writers().values().stream().map(LsCommand::writer).toList();
    if (!reader.json) {
      table.row(
          name,
          rows(state),
          Times.text(state.upper()),
          Times.lag(state.upper(), context.clock().instant()),
          figures.runs(),
          figures.runsBound(),
          errors(state),
          state.seqno().value(),
          String.join(", ", writers));
      return;
    }
    ObjectNode node = Json.object();
    node.put("shard", name).put("rows", rows(state));
    Json.put(node, "upper", state.upper());
    Json.put(node, "since", state.since());
    node.put("runs", figures.runs()).put("runsBound", figures.runsBound());
    node.put("errors", errors(state)).put("seqno", state.seqno().value());
    writers.forEach(node.putArray("writers")::add);
    context.out().line(Json.text(node));
  }

  private static String writer(Fact.WriterFact writer) {
    return writer.by().writer();
  }

  /** The rows of the collection, each as often as it is there, at the upper. */
  static long rows(ShardState state) {
    return state.batches().stream()
        .collect(Collectors.summingLong(batch -> batch.sum().orElse(batch.rows())));
  }

  /** The error rows. */
  static long errors(ShardState state) {
    return state.batches().stream()
        .map(Batch::errors)
        .flatMap(List::stream)
        .mapToLong(Part::sum)
        .sum();
  }
}
