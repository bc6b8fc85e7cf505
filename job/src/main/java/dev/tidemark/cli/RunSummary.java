package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.job.AfterEnd;
import dev.tidemark.job.JobOptions;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What is said of a job that has ended.
 *
 * @param options the job's
 * @param outcome how it ended
 * @param sealed the shards that were sealed thereafter
 * @param settled what it took to bring them to rest, if that was tried
 */
record RunSummary(
    JobOptions options, RunOutcome outcome, List<String> sealed, Optional<Settlement> settled) {

  /** Seals and settles the shards, where that is wanted of a job that has ended, and says so. */
  static RunSummary afterEnd(
      JobOptions options,
      RunOutcome outcome,
      boolean seals,
      boolean settles,
      ShardWatch watch,
      Context context,
      Consumer<String> say)
      throws Exception {
    List<String> sealed = List.of();
    Optional<Settlement> settled = Optional.empty();
    if (seals) {
      sealed = AfterEnd.seal(options);
      watch.finish();
    }
    if (settles) {
      settled = Optional.of(Settlement.reach(options, context, say));
      watch.finish();
    }
    return new RunSummary(options, outcome, sealed, settled);
  }

  /**
   * Prints it.
   *
   * @return the exit code
   * @throws CommandException when records have gone missing
   */
  int print(Output out, ShardWatch watch, boolean json) {
    Identity identity =
        Identity.of(
            outcome.counts(), options.shards().stream().map(shard -> shard.name()).toList());
    if (json) {
      ObjectNode node = json(identity, watch);
      if (!sealed.isEmpty()) {
        sealed.forEach(node.putArray("sealed")::add);
      }
      settled.ifPresent(settlement -> node.set("settle", settlement.json()));
      out.line(Json.text(node));
    } else {
      TextTable table = new TextTable();
      table.row("shard", "rows", "errors", "upper", "runs/bound", "write amp/bound", "version");
      for (ShardWatch.Followed shard : watch.shards()) {
        if (shard.state().exists()) {
          table.row(
              shard.name(),
              LsCommand.rows(shard.state()),
              LsCommand.errors(shard.state()),
              Times.text(shard.state().upper()),
              runs(shard.figures()),
              writes(shard.figures()),
              shard.state().seqno().value());
        }
      }
      out.line("");
      table.print(out);
      out.line(identity.line() + String.format(Locale.ROOT, ", in %d s", outcome.millis() / 1000));
      if (!sealed.isEmpty()) {
        out.line("sealed: " + String.join(", ", sealed));
      }
      settled.ifPresent(settlement -> out.line(settlement.text()));
      if (!outcome.whole()) {
        out.line(Identity.PARTLY_KNOWN);
      }
      outcome
          .savepoint()
          .ifPresent(
              path -> {
                out.line("savepoint " + path);
                out.line("go on with the same command, or --restore " + path);
              });
    }
    boolean atItsEnd = outcome.code() == Exit.DONE && outcome.savepoint().isEmpty();
    if (atItsEnd && outcome.whole() && !identity.holds()) {
      throw new CommandException(Exit.JOB, "records have gone missing: " + identity.line());
    }
    return settled.map(Settlement::code).orElse(outcome.code());
  }

  private ObjectNode json(Identity identity, ShardWatch watch) {
    ObjectNode node = Json.object();
    node.put("read", identity.read())
        .put("stored", identity.stored())
        .put("error", identity.errors());
    node.put("late", identity.late())
        .put("replayed", identity.replayed())
        .put("ignored", identity.ignored());
    node.put("countsWhole", outcome.whole()).put("millis", outcome.millis());
    Optional<String> savepoint = outcome.savepoint();
    savepoint.ifPresent(path -> node.put("savepoint", path));
    ArrayNode shards = node.putArray("shards");
    List<ShardWatch.Followed> followed = watch.shards();
    for (ShardWatch.Followed shard : followed) {
      if (shard.state().exists()) {
        ObjectNode one = shards.addObject().put("shard", shard.name());
        one.put("rows", LsCommand.rows(shard.state()))
            .put("errors", LsCommand.errors(shard.state()));
        Json.put(one, "upper", shard.state().upper());
        one.put("seqno", shard.state().seqno().value());
      }
    }
    return node;
  }

  static String runs(SpineFigures figures) {
    return figures.runs() + "/" + figures.runsBound();
  }

  static String writes(SpineFigures figures) {
    return (figures.writeAmplification().isPresent()
            ? ShardPortrait.oneDigit(figures.writeAmplification().getAsDouble())
            : "?")
        + "/"
        + ShardPortrait.oneDigit(figures.writeBound());
  }
}
