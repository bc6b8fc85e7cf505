package dev.tidemark.cli;

import dev.tidemark.hold.Holds;
import dev.tidemark.job.Amounts;
import dev.tidemark.job.UpkeepKeys;
import dev.tidemark.read.AsOf;
import dev.tidemark.read.HeldReader;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark snapshot}: the collection at a time, read under a hold. */
@Command(name = "snapshot", description = "The rows of a shard at a time, in key order.")
final class SnapshotCommand implements Callable<Integer> {
  /** How often a shard is looked at while waiting for a time to become durable. */
  private static final Duration LOOK = Duration.ofMillis(200);

  /** How rows are printed. */
  enum Format {
    json,
    csv
  }

  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(
      names = "--as-of",
      paramLabel = "T",
      defaultValue = "latest",
      description = "Milliseconds, ISO-8601 with zone, latest (the last durable time) or earliest.")
  private String asOf = "latest";

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "json",
      description = "json (an object a line) or csv (default: ${DEFAULT-VALUE}).")
  private Format format = Format.json;

  @Option(
      names = "--where",
      paramLabel = "CONDITION",
      description = "column op literal [and ...]; op: = != < <= > >= is null, is not null.")
  private @Nullable String where;

  @Option(names = "--limit", paramLabel = "N", description = "At most N lines.")
  private long limit = Long.MAX_VALUE;

  @Option(
      names = "--null",
      paramLabel = "TEXT",
      defaultValue = "",
      description = "csv: what stands for NULL (default: nothing, and an empty text is \"\").")
  private String nullText = "";

  @Option(names = "--json-strings", description = "json: BIGINT and DECIMAL as strings.")
  private boolean strings;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      defaultValue = "0 s",
      description = "How long to wait for T to become durable (default: ${DEFAULT-VALUE}).")
  private String timeout = "0 s";

  @Option(
      names = "--no-hold",
      description =
          "Write no hold: for credentials that only read, and reads shorter than gc.keep (1 h).")
  private boolean noHold;

  @Option(names = "--strict", description = "Fail when there are error rows.")
  private boolean strict;

  SnapshotCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      Schema schema = shard.state().schema();
      Optional<Where> condition = Optional.ofNullable(where).map(text -> Where.parse(text, schema));
      RowPrinter printer =
          format == Format.csv && !reader.json
              ? new RowPrinter.Csv(schema, nullText)
              : new RowPrinter.JsonLines(schema, strings);
      long time = time(shard.state());
      Optional<HeldReader> held = noHold ? Optional.empty() : hold(shard, time);
      if (held.isEmpty()) {
        ShardState state = await(shard, time);
        warnOfErrors(state);
        try (UpdateCursor rows = new ShardReader(shard.log()).snapshot(state, time)) {
          print(rows, new RowCodec(schema), condition, printer);
        }
        return Exit.DONE;
      }
      HeldReader reading = held.get();
      ReadHold hold = ReadHold.keep(reading.hold());
      try {
        print(reading, condition, printer);
      } finally {
        hold.close();
      }
    }
    return Exit.DONE;
  }

  private void print(HeldReader reading, Optional<Where> condition, RowPrinter printer)
      throws IOException {
    try (UpdateCursor rows = reading.snapshot(waitFor().toMillis())) {
      warnOfErrors(reading.state());
      print(rows, new RowCodec(reading.schema()), condition, printer);
    }
  }

  /** A reader under a hold; empty, and said so, where the credentials only read. */
  private Optional<HeldReader> hold(ReaderOptions.Shard shard, long time) throws IOException {
    long lease = UpkeepKeys.holdExpiry(ReaderOptions.options(context, reader.conf)).toMillis();
    HeldReader.Terms terms =
        new HeldReader.Terms("snapshot", Admin.author(context).attempt().host(), lease);
    return ReadHold.unlessDenied(
        context,
        "reading",
        "a read that takes longer than gc.keep may end by name",
        () -> HeldReader.open(shard.log(), new Holds(shard.log()), terms, AsOf.at(time)));
  }

  private void print(
      UpdateCursor rows, RowCodec codec, Optional<Where> condition, RowPrinter printer)
      throws IOException {
    if (!printer.heading().isEmpty()) {
      context.out().line(printer.heading());
    }
    for (long left = limit; left > 0 && rows.next(); ) {
      @Nullable Object[] row = codec.decode(rows.row(), rows.rowOffset(), rows.rowLength());
      if (condition.isEmpty() || condition.get().meets(row)) {
        printer.print(row, rows.diff(), context.out());
        left--;
      }
    }
  }

  private long time(ShardState state) {
    return switch (asOf) {
      case "latest" -> latest(url, state);
      case "earliest" -> {
        if (state.upper().isMinimum()) {
          throw empty(url);
        }
        yield state.since().isMinimum() ? earliestRow(state) : state.since().time();
      }
      default -> Times.parse(asOf);
    };
  }

  /** The last durable time. */
  static long latest(String url, ShardState state) {
    if (state.upper().isMinimum()) {
      throw empty(url);
    }
    return state.upper().time() - 1;
  }

  /** While nothing has been given up, nothing is there before the first batch's end. */
  private static long earliestRow(ShardState state) {
    return state.batches().get(0).bounds().upper().time() - 1;
  }

  private static CommandException empty(String url) {
    return new CommandException(Exit.NO, "nothing of " + url + " is durable yet");
  }

  private Duration waitFor() {
    try {
      return Amounts.duration(timeout);
    } catch (IllegalArgumentException e) {
      throw new CommandException(Exit.USAGE, "--timeout " + timeout + ": " + e.getMessage());
    }
  }

  private ShardState await(ReaderOptions.Shard shard, long time) throws IOException {
    Duration wait = waitFor();
    Instant deadline = context.clock().instant().plus(wait);
    ShardState state = shard.state();
    while (!state.upper().isAfter(Frontier.of(time))
        && context.clock().instant().isBefore(deadline)) {
      LockSupport.parkNanos(LOOK.toNanos());
      state = shard.log().refresh();
    }
    return state;
  }

  private void warnOfErrors(ShardState state) {
    long errors = LsCommand.errors(state);
    if (errors > 0) {
      String line =
          Amounts.count(errors, "error row")
              + " beside the rows; tidemark errors "
              + url
              + " shows";
      if (strict) {
        throw new CommandException(Exit.NO, line);
      }
      context.err().println("tidemark: " + line);
    }
  }
}
