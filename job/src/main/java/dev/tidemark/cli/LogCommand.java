package dev.tidemark.cli;

import dev.tidemark.job.Amounts;
import dev.tidemark.log.LogCodec;
import dev.tidemark.log.LogEntry;
import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.spine.Batch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark log}: the versions of a shard. */
@Command(
    name = "log",
    description =
        "The versions of a shard: number, when, who, what changed. --json: the entries as they lie in the log.")
final class LogCommand implements Callable<Integer> {
  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(
      names = "--from",
      paramLabel = "N",
      defaultValue = "1",
      description = "The first version to show (default: ${DEFAULT-VALUE}).")
  private long from = 1;

  LogCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      SeqNo head = shard.state().seqno();
      if (from < 1 || from > head.value()) {
        throw new CommandException(
            Exit.USAGE, "--from " + from + ": the versions of " + url + " are 1 to " + head);
      }
      for (SeqNo seqno = new SeqNo(from); seqno.compareTo(head) <= 0; seqno = seqno.next()) {
        Optional<LogEntry> entry = shard.log().entry(seqno);
        if (entry.isEmpty()) {
          throw new CommandException(
              Exit.NO,
              "version " + seqno + " of " + url + " is no longer in the log; --from a later one");
        }
        context.out().line(reader.json ? json(entry.get()) : text(entry.get()));
      }
    }
    return Exit.DONE;
  }

  private static String json(LogEntry entry) {
    return new String(LogCodec.encode(entry), StandardCharsets.UTF_8);
  }

  private static String text(LogEntry entry) {
    return String.format(
        Locale.ROOT,
        "%6d  %s  %-11s %-24s %s",
        entry.seqno().value(),
        entry.at(),
        entry.command(),
        entry.by().attempt().writer() + "/" + entry.by().role(),
        changes(entry.diff()));
  }

  /** What a diff changes, in few words. */
  static String changes(Diff diff) {
    Map<String, Batch> gone = new HashMap<>();
    for (Fact fact : diff.remove()) {
      if (fact instanceof Fact.BatchFact batch) {
        gone.put(batch.id(), batch.batch());
      }
    }
    List<String> words = new ArrayList<>();
    for (Fact fact : diff.add()) {
      if (fact instanceof Fact.UpperFact upper) {
        words.add("upper " + Times.text(upper.upper()));
      } else if (fact instanceof Fact.SinceFact since) {
        words.add("since " + Times.text(since.since()));
      } else if (fact instanceof Fact.SchemaFact schema) {
        words.add("schema " + schema.schema().id());
      } else if (fact instanceof Fact.ConsolidatingFact consolidating) {
        words.add("consolidating up to " + Times.text(consolidating.upper()));
      } else if (fact instanceof Fact.BatchFact added) {
        words.add(batch(added.batch(), gone.remove(added.id())));
      }
    }
    if (!gone.isEmpty()) {
      words.add("-" + Amounts.count(gone.size(), "batch"));
    }
    return String.join(", ", words);
  }

  private static String batch(Batch now, @org.jspecify.annotations.Nullable Batch before) {
    if (before != null) {
      return before.level() == now.level()
          ? "upper moved"
          : "level " + before.level() + " to " + now.level();
    }
    long errors = now.errors().stream().mapToLong(part -> part.rows()).sum();
    return String.format(
        Locale.ROOT,
        "+%s (%s, %s, level %d)%s",
        Amounts.count(now.rows(), "row"),
        Amounts.text(now.bytes()),
        Amounts.count(now.runCount(), "run"),
        now.level(),
        errors == 0 ? "" : ", " + errors + " errors");
  }
}
