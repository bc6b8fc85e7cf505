package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.job.Amounts;
import dev.tidemark.read.Verifier;
import java.io.IOException;
import java.util.Locale;
import java.util.Optional;
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
      Verifier.Report report = verify(shard);
      if (reader.json) {
        context.out().line(Json.text(json(report)));
      } else {
        text(report);
      }
      return report.sound() ? Exit.DONE : Exit.NO;
    }
  }

  /** Deep, it reads for long: under a hold, so that no part goes meanwhile and looks missing. */
  private Verifier.Report verify(ReaderOptions.Shard shard) throws IOException {
    Verifier verifier = new Verifier(shard.log());
    if (!deep || shard.state().retired()) {
      return verifier.verify(deep);
    }
    Optional<ReadHold> hold =
        ReadHold.take(
            context,
            reader.conf,
            shard,
            "verifying",
            "verify",
            "parts that go meanwhile count as missing");
    try {
      return verifier.verify(true);
    } finally {
      hold.ifPresent(ReadHold::close);
    }
  }

  private ObjectNode json(Verifier.Report report) {
    ObjectNode node = Json.object();
    node.put("shard", url).put("sound", report.sound()).put("deep", deep);
    node.put("versions", report.versions()).put("rollups", report.rollups());
    node.put("batches", report.batches()).put("parts", report.parts());
    node.put("rows", report.rows()).put("errors", report.errorRows());
    node.put("bytesRead", report.bytesRead());
    ArrayNode findings = node.putArray("findings");
    report
        .findings()
        .forEach(
            finding ->
                findings.addObject().put("where", finding.where()).put("what", finding.what()));
    return node;
  }

  private void text(Verifier.Report report) {
    report.findings().forEach(finding -> context.out().line(finding.toString()));
    String verdict = report.sound() ? "sound" : Amounts.count(report.findings().size(), "finding");
    String parts =
        deep
            ? String.format(
                Locale.ROOT,
                "%s read (%s)",
                Amounts.count(report.parts(), "part"),
                Amounts.text(report.bytesRead()))
            : Amounts.count(report.parts(), "part") + " there (--deep reads them)";
    context
        .out()
        .line(
            String.format(
                Locale.ROOT,
                "%s: %s; %s replayed, %s of %s, %s",
                url,
                verdict,
                Amounts.count(report.versions(), "version"),
                Amounts.count(report.batches(), "batch"),
                Amounts.count(report.rows(), "update"),
                parts));
  }
}
