package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.job.Amounts;
import dev.tidemark.spine.Cost;
import dev.tidemark.spine.Load;
import dev.tidemark.spine.SpecAdvisor;
import dev.tidemark.spine.SpecAdvisor.Advice;
import dev.tidemark.spine.SpecAdvisor.Proposal;
import dev.tidemark.spine.SpecAdvisor.Target;
import dev.tidemark.spine.SpineSpec;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tidemark spec}: bounds and dollars from knobs, or knobs from a budget. */
@Command(
    name = "spec",
    description =
        "What a spec promises for a load, and what a month of it costs. With --max-runs, --max-writes, --max-space or --max-dollars: a spec that keeps to these; exit 1 where there is none, naming what is in the way.")
final class SpecCommand implements Callable<Integer> {
  private static final double ANY = Double.POSITIVE_INFINITY;

  private final Context context;

  @Option(
      names = "--rate",
      paramLabel = "SIZE",
      description = "Row bytes appended a second to a shard, such as '1 MiB'.")
  private @Nullable String rate;

  @Option(names = "--rows", paramLabel = "N", description = "Instead of --rate: rows a second.")
  private @Nullable Double rows;

  @Option(
      names = "--row-bytes",
      paramLabel = "SIZE",
      defaultValue = "100 B",
      description = "With --rows: bytes a row (default: ${DEFAULT-VALUE}).")
  private String rowBytes = "100 B";

  @Option(
      names = "--commit",
      paramLabel = "TIME",
      defaultValue = "10 s",
      description = "From one commit to the next (default: ${DEFAULT-VALUE}).")
  private String commit = "10 s";

  @Option(
      names = "--runs",
      paramLabel = "N",
      defaultValue = "1",
      description = "Runs a commit, that is write.runs (default: ${DEFAULT-VALUE}).")
  private int runs = 1;

  @Option(
      names = "--months",
      paramLabel = "N",
      defaultValue = "12",
      description = "After so many months of 30 days (default: ${DEFAULT-VALUE}).")
  private double months = 12;

  @Option(
      names = "--kept",
      paramLabel = "SHARE",
      defaultValue = "1",
      description = "The share of rows that nothing retracts later (default: ${DEFAULT-VALUE}).")
  private double kept = 1;

  @Option(
      names = "--retain",
      paramLabel = "TIME",
      defaultValue = "1 h",
      description = "How long history is kept (default: ${DEFAULT-VALUE}).")
  private String retain = "1 h";

  @Option(
      names = "--shards",
      paramLabel = "N",
      defaultValue = "1",
      description = "Shards with that load each (default: ${DEFAULT-VALUE}).")
  private int shards = 1;

  @Option(
      names = "--spec",
      paramLabel = "KNOB=VALUE",
      split = ",",
      description = "Knobs other than the default: fan-in, queue, rest, base-bytes, space.")
  private Map<String, String> knobs = Map.of();

  @Option(names = "--max-runs", paramLabel = "N", description = "The most runs a reader merges.")
  private double maxRuns = ANY;

  @Option(names = "--max-writes", paramLabel = "X", description = "The most write amplification.")
  private double maxWrites = ANY;

  @Option(names = "--max-space", paramLabel = "X", description = "The most space amplification.")
  private double maxSpace = ANY;

  @Option(names = "--max-dollars", paramLabel = "X", description = "The most dollars a month.")
  private double maxDollars = ANY;

  @Option(
      names = "--prices",
      paramLabel = "FILE",
      description = "What the store bills (default: conf/prices.yaml).")
  private @Nullable Path pricesFile;

  @Option(names = "--json", description = "One JSON document.")
  private boolean json;

  @Option(names = "--debug", description = "A stack trace with an error.")
  boolean debug;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "This text.")
  boolean help;

  SpecCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() {
    Load load = load();
    if (shards < 1) {
      throw new CommandException(Exit.USAGE, "--shards " + shards + ": must be at least 1");
    }
    Prices prices = Prices.of(pricesFile);
    ToDoubleFunction<Cost> dollars = cost -> dollars(cost, prices);
    Target target = target();
    if (target.equals(Target.NONE)) {
      SpineSpec spec = spec();
      if (load.runs() > spec.freshRuns()) {
        throw new CommandException(
            Exit.NO,
            "no solution: a fresh batch may have half of fan-in "
                + spec.fanIn()
                + ", not "
                + load.runs()
                + " runs: raise fan-in, or take fewer");
      }
      show(Proposal.of(spec, load, shards, dollars), load, prices);
      return Exit.DONE;
    }
    if (!knobs.isEmpty()) {
      throw new CommandException(
          Exit.USAGE, "either --spec, for its bounds, or limits, for a spec: not both");
    }
    Advice advice = SpecAdvisor.advise(load, shards, target, dollars);
    if (advice.proposal().isEmpty()) {
      if (json) {
        ObjectNode node = Json.object().putNull("spec");
        advice.inTheWay().forEach(node.putArray("inTheWay")::add);
        context.out().line(Json.text(node));
      }
      throw new CommandException(Exit.NO, "no solution: " + String.join("; ", advice.inTheWay()));
    }
    show(advice.proposal().get(), load, prices);
    return Exit.DONE;
  }

  private Load load() {
    if ((rate == null) == (rows == null)) {
      throw new CommandException(
          Exit.USAGE, "how much is appended? Write either --rate SIZE or --rows N, a second");
    }
    try {
      double bytes =
          rate != null
              ? Amounts.bytes(rate)
              : (rows == null ? 0 : rows) * (double) Amounts.bytes(rowBytes);
      return new Load(
          bytes,
          Amounts.duration(commit).toMillis(),
          runs,
          months,
          kept,
          Amounts.duration(retain).toMillis());
    } catch (IllegalArgumentException e) {
      throw new CommandException(Exit.USAGE, "the load: " + e.getMessage(), e);
    }
  }

  private SpineSpec spec() {
    try {
      return AlterCommand.spec(AlterCommand.knobs(knobs, null), SpineSpec.DEFAULT);
    } catch (IllegalArgumentException e) {
      throw new CommandException(Exit.USAGE, "--spec: " + e.getMessage(), e);
    }
  }

  private Target target() {
    limit("--max-runs", maxRuns);
    limit("--max-writes", maxWrites);
    limit("--max-space", maxSpace);
    limit("--max-dollars", maxDollars);
    return new Target(maxRuns, maxWrites, maxSpace, maxDollars);
  }

  private static void limit(String name, double value) {
    if (!(value > 0)) {
      throw new CommandException(Exit.USAGE, name + " " + value + ": must be above 0");
    }
  }

  private static double dollars(Cost cost, Prices prices) {
    return prices.requests(Math.round(cost.puts()), Math.round(cost.gets()))
        + prices.month(Math.round(cost.storedBytes()));
  }

  private void show(Proposal of, Load load, Prices prices) {
    if (json) {
      context.out().line(Json.text(json(of, load)));
      return;
    }
    SpineSpec spec = of.spec();
    Cost cost = of.cost();
    line(
        "--spec fan-in=%d,queue=%d,rest=%d,base-bytes=%s,space=%s",
        spec.fanIn(), spec.queue(), spec.rest(), Amounts.text(spec.baseBytes()), spec.space());
    line("");
    line(
        "after %s months of %s/s a shard, %.0f commits a month of %d %s each",
        number(load.months()),
        Amounts.text(Math.round(load.bytesPerSecond())),
        load.commitsPerMonth(),
        load.runs(),
        load.runs() == 1 ? "run" : "runs");
    line(
        "  runs                at most %,d, twice that while a consolidation is under way; at rest %d",
        of.bounds().runs(), of.bounds().runsAtRest());
    line(
        "  write amplification at most %.1f; %.1f where retractions cancel additions",
        of.bounds().writesAtWorst(), of.bounds().writes());
    line(
        "  space amplification at most %s at rest, of the rows at or before since",
        number(of.bounds().space()));
    line(
        "  merges must manage  %s/s so that no append waits%s",
        Amounts.text(Math.round(load.mergeBytesPerSecond(spec))),
        spec.queue() < 2 * spec.fanIn() ? " (promised from queue = 2 fan-in on only)" : "");
    line("");
    line("a month, %d %s, at most", shards, shards == 1 ? "shard" : "shards");
    line("  PUT     %,15.0f  %10.2f $", cost.puts(), prices.requests(Math.round(cost.puts()), 0));
    line(
        "  GET     %,15.0f  %10.2f $   without those of readers",
        cost.gets(), prices.requests(0, Math.round(cost.gets())));
    line(
        "  stored  %15s  %10.2f $   before compression",
        Amounts.text(Math.round(cost.storedBytes())), prices.month(Math.round(cost.storedBytes())));
    line("  all     %15s  %10.2f $", "", of.dollars());
  }

  private void line(String form, Object... values) {
    context.out().line(String.format(Locale.ROOT, form, values));
  }

  private static String number(double value) {
    return value == Math.rint(value) ? String.format(Locale.ROOT, "%.0f", value) : value + "";
  }

  private ObjectNode json(Proposal of, Load load) {
    SpineSpec spec = of.spec();
    ObjectNode node = Json.object();
    node.putObject("spec")
        .put("fanIn", spec.fanIn())
        .put("queue", spec.queue())
        .put("rest", spec.rest())
        .put("baseBytes", spec.baseBytes())
        .put("space", spec.space());
    node.putObject("bounds")
        .put("runs", of.bounds().runs())
        .put("runsAtRest", of.bounds().runsAtRest())
        .put("writeAmplification", ShardPortrait.rounded(of.bounds().writesAtWorst()))
        .put("writeAmplificationCancelling", ShardPortrait.rounded(of.bounds().writes()))
        .put("spaceAmplification", of.bounds().space())
        .put("mergeBytesPerSecond", Math.round(load.mergeBytesPerSecond(spec)));
    node.putObject("month")
        .put("shards", shards)
        .put("commits", Math.round(of.cost().commits()))
        .put("merges", Math.round(of.cost().merges()))
        .put("puts", Math.round(of.cost().puts()))
        .put("gets", Math.round(of.cost().gets()))
        .put("storedBytes", Math.round(of.cost().storedBytes()))
        .put("dollars", ShardPortrait.rounded(of.dollars()));
    return node;
  }
}
