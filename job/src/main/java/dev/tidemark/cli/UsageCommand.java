package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.gc.Usage;
import dev.tidemark.job.Amounts;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.Shards;
import dev.tidemark.store.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark usage}: what lies in a warehouse, and why. */
@Command(
    name = "usage",
    description =
        "Bytes and objects by kind: live, held (by whom), garbage, orphans, rollups, log, holds; the requests of the newest versions by cause; dollars a month by conf/prices.yaml.")
final class UsageCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(
      paramLabel = "WAREHOUSE",
      description = "The folder of the shards, or one shard: a URL or a path.")
  private String url = "";

  @Option(
      names = "--prices",
      paramLabel = "FILE",
      description = "What the store bills (default: conf/prices.yaml).")
  private @Nullable Path pricesFile;

  UsageCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Prices prices = Prices.of(pricesFile);
    TextTable table = new TextTable();
    table.row("shard", "kind", "objects", "size", "$ a month");
    try (ObjectStore store = reader.open(context, url)) {
      int shards = 0;
      if (Shards.isShard(store)) {
        show(url, new ShardLog(store), prices, table);
        shards++;
      } else {
        for (String name : Shards.names(store)) {
          show(name, new ShardLog(store.under(name + "/")), prices, table);
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

  private void show(String name, ShardLog log, Prices prices, TextTable table) throws IOException {
    Usage usage = Usage.of(log);
    RequestUsage requests = RequestUsage.of(log, usage.state());
    if (reader.json) {
      context.out().line(Json.text(json(name, usage, requests, prices)));
      return;
    }
    row(table, name, "live", usage.live(), prices);
    row(table, "", "held", usage.held(), prices);
    for (Usage.Holder holder : usage.holders()) {
      String who =
          "  by "
              + holder.hold().id()
              + " ("
              + holder.hold().hold().purpose()
              + " on "
              + holder.hold().hold().host()
              + ")";
      row(table, "", who, holder.keeps(), prices);
    }
    row(table, "", "garbage", usage.garbage(), prices);
    row(table, "", "orphans", usage.orphans(), prices);
    row(table, "", "rollups", usage.rollups(), prices);
    row(table, "", "log", usage.log(), prices);
    row(table, "", "holds", usage.holdObjects(), prices);
    row(table, "", "other", usage.other(), prices);
    requests
        .causes()
        .forEach(
            (cause, of) ->
                table.row(
                    "",
                    cause + ", " + Amounts.count(of.versions(), "version"),
                    of.puts() + " PUT, " + of.gets() + " GET",
                    "",
                    ""));
    double storage = prices.month(usage.bytes());
    OptionalDouble month = requests.month(prices);
    if (month.isPresent()) {
      String span = Amounts.text(Duration.ofSeconds(requests.span().toSeconds()));
      table.row("", "requests as in the last " + span, "", "", dollars(month.getAsDouble()));
      String all = dollars(month.getAsDouble() + storage);
      table.row("", "all", "", Amounts.text(usage.bytes()), all);
    } else {
      table.row("", RequestUsage.TOO_SHORT, "", "", "?");
      table.row("", "all but requests", "", Amounts.text(usage.bytes()), dollars(storage));
    }
  }

  private static void row(
      TextTable table, String name, String kind, Usage.Size size, Prices prices) {
    table.row(
        name,
        kind,
        size.objects(),
        Amounts.text(size.bytes()),
        dollars(prices.month(size.bytes())));
  }

  private static String dollars(double amount) {
    return String.format(Locale.ROOT, amount < 1 ? "%.4f" : "%.2f", amount);
  }

  private static ObjectNode json(String name, Usage usage, RequestUsage requests, Prices prices) {
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
    requests.putCauses(node);
    node.put("requestsSpanMillis", requests.span().toMillis());
    requests.putDollars(node, prices, usage.bytes());
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
