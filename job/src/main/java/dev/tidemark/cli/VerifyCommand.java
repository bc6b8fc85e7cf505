package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark verify}: whether a shard is whole. */
@Command(
    name = "verify",
    description =
        "Replays the log and checks every invariant; --deep: reads every part too. Exit 1 when something is wrong.")
final class VerifyCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(
      names = "--deep",
      description = "Read every part: counts, sums, order, bounds, checksums.")
  private boolean deep;

  VerifyCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      Verification verification = new Verification(shard.log(), shard.state());
      verification.replay();
      if (deep) {
        verification.readParts();
      }
      report(verification);
      return verification.findings().isEmpty() ? Exit.DONE : Exit.NO;
    }
  }

  private void report(Verification done) {
    List<String> findings = done.findings();
    if (reader.json) {
      ObjectNode node = Json.object();
      node.put("shard", url).put("whole", findings.isEmpty()).put("versions", done.versions());
      node.put("batches", done.batches())
          .put("parts", done.parts())
          .put("rowsRead", done.rowsRead());
      ArrayNode list = node.putArray("findings");
      findings.forEach(list::add);
      context.out().line(Json.text(node));
      return;
    }
    findings.forEach(context.out()::line);
    context
        .out()
        .line(
            String.format(
                Locale.ROOT,
                "%s: %s; %,d versions replayed, %,d batches%s",
                url,
                findings.isEmpty() ? "whole" : findings.size() + " findings",
                done.versions(),
                done.batches(),
                deep
                    ? String.format(
                        Locale.ROOT, ", %,d parts and %,d rows read", done.parts(), done.rowsRead())
                    : " (--deep reads the parts too)"));
  }
}
