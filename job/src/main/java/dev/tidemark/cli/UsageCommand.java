package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.gc.Usage;
import dev.tidemark.job.Amounts;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Shards;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code tidemark usage}: what lies in a warehouse, and why. */
@Command(
    name = "usage",
    description =
        "Bytes and objects by kind: live, held (by whom), garbage, orphans, rollups, log, holds.")
final class UsageCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(
      paramLabel = "WAREHOUSE",
      description = "The folder of the shards, or one shard: a URL or a path.")
  private String url = "";

  UsageCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    TextTable table = new TextTable();
    table.row("shard", "kind", "objects", "size");
    try (ObjectStore store = reader.open(context, url)) {
      int shards = 0;
      if (Shards.isShard(store)) {
        show(url, Usage.of(new ShardLog(store)), table);
        shards++;
      } else {
        for (String name : Shards.names(store)) {
          show(name, Usage.of(new ShardLog(store.under(name + "/"))), table);
          shards++;
        }
      }
      if (shards == 0) {
        context.err().println("no shards in " + url);
      } else if (!reader.json) {
        table.print(context.out());
      }
    }
    return Exit.DONE;
  }

  private void show(String name, Usage usage, TextTable table) {
    if (reader.json) {
      context.out().line(Json.text(json(name, usage)));
      return;
    }
    row(table, name, "live", usage.live());
    row(table, "", "held", usage.held());
    for (Usage.Holder holder : usage.holders()) {
      String who = "  by " + holder.hold().id() + " (" + holder.hold().hold().purpose() + ")";
      row(table, "", who, holder.keeps());
    }
    row(table, "", "garbage", usage.garbage());
    row(table, "", "orphans", usage.orphans());
    row(table, "", "rollups", usage.rollups());
    row(table, "", "log", usage.log());
    row(table, "", "holds", usage.holdObjects());
    row(table, "", "other", usage.other());
  }

  private static void row(TextTable table, String name, String kind, Usage.Size size) {
    table.row(name, kind, size.objects(), Amounts.text(size.bytes()));
  }

  private static ObjectNode json(String name, Usage usage) {
    ObjectNode node = Json.object();
    node.put("shard", name).put("seqno", usage.state().seqno().value());
    node.put("bytes", usage.bytes());
    put(node, "live", usage.live());
    put(node, "held", usage.held());
    put(node, "garbage", usage.garbage());
    put(node, "orphans", usage.orphans());
    put(node, "rollups", usage.rollups());
    put(node, "log", usage.log());
    put(node, "holds", usage.holdObjects());
    put(node, "other", usage.other());
    ArrayNode holders = node.putArray("holders");
    for (Usage.Holder holder : usage.holders()) {
      ObjectNode one = holders.addObject();
      one.put("id", holder.hold().id()).put("purpose", holder.hold().hold().purpose());
      one.put("host", holder.hold().hold().host());
      one.put("expires", Times.text(holder.hold().expires().toEpochMilli()));
      one.put("objects", holder.keeps().objects()).put("bytes", holder.keeps().bytes());
    }
    return node;
  }

  private static void put(ObjectNode node, String kind, Usage.Size size) {
    node.putObject(kind).put("objects", size.objects()).put("bytes", size.bytes());
  }
}
