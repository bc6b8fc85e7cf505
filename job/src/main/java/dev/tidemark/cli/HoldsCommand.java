package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.hold.Holds;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark holds}: who holds a shard, and dropping a hold. */
@Command(
    name = "holds",
    description =
        "The holds on a shard: who, what for, since when, until when. --drop: take one away; its reader ends by name or goes on, never with fewer rows.")
final class HoldsCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(names = "--drop", paramLabel = "ID", description = "The hold to drop.")
  private @Nullable String drop;

  HoldsCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      Holds holds = new Holds(shard.log());
      List<Holds.Listed> listed = holds.list();
      String wanted = drop;
      if (wanted != null) {
        if (listed.stream().noneMatch(hold -> hold.id().equals(wanted))) {
          throw new CommandException(
              Exit.USAGE, "no hold " + wanted + " on " + url + "; tidemark holds shows them");
        }
        holds.drop(wanted);
        context.err().println("dropped " + wanted);
        return Exit.DONE;
      }
      show(listed);
    }
    return Exit.DONE;
  }

  private void show(List<Holds.Listed> listed) {
    TextTable table = new TextTable();
    table.row("id", "purpose", "host", "since", "version", "expires");
    for (Holds.Listed hold : listed) {
      boolean expired = context.clock().instant().isAfter(hold.expires());
      String expires = Times.text(hold.expires().toEpochMilli());
      if (reader.json) {
        ObjectNode node = Json.object();
        node.put("id", hold.id()).put("purpose", hold.hold().purpose());
        node.put("host", hold.hold().host());
        Json.put(node, "since", hold.hold().since());
        node.put("seqno", hold.hold().seqno().value()).put("expires", expires);
        node.put("expired", expired);
        context.out().line(Json.text(node));
      } else {
        table.row(
            hold.id(),
            hold.hold().purpose(),
            hold.hold().host(),
            Times.text(hold.hold().since()),
            hold.hold().seqno().value(),
            expired ? "expired" : expires);
      }
    }
    if (!reader.json) {
      if (listed.isEmpty()) {
        context.err().println("nobody holds " + url);
      } else {
        table.print(context.out());
      }
    }
  }
}
