package dev.tidemark.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tidemark.log.ShardLog;
import dev.tidemark.read.ShardReader;
import dev.tidemark.row.ErrorRows;
import dev.tidemark.row.RowCodec;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.shard.ShardState;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tidemark errors}: the records that became no row. */
@Command(
    name = "errors",
    description = "The error rows of a shard: reason, where it came from, the record itself.")
final class ErrorsCommand implements Callable<Integer> {
  private static final int SHOWN_CHARS = 200;

  private final Context context;

  @Mixin private final ReaderOptions reader = new ReaderOptions();

  @Parameters(paramLabel = "SHARD", description = "A URL or a path.")
  private String url = "";

  @Option(names = "--limit", paramLabel = "N", description = "At most N error rows.")
  private long limit = Long.MAX_VALUE;

  @Option(
      names = "--no-hold",
      description =
          "Write no hold: for credentials that only read, and reads shorter than gc.keep (1 h).")
  private boolean noHold;

  @Option(
      names = "--forget",
      description = "Forget the error rows before --before, which were dealt with.")
  private boolean forget;

  @Option(
      names = "--before",
      paramLabel = "T",
      description =
          "With --forget: parts all of whose error rows are before T go; milliseconds, ISO-8601 with zone, or latest for all.")
  private @Nullable String before;

  ErrorsCommand(Context context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    String until = before;
    if (forget != (until != null)) {
      throw new CommandException(Exit.USAGE, "--forget and --before T go together");
    }
    try (ReaderOptions.Shard shard = reader.shard(context, url)) {
      if (until != null) {
        Frontier frontier =
            until.equals("latest") ? shard.state().upper() : Frontier.of(Times.parse(until));
        return Admin.commit(
            context,
            reader.json,
            url,
            shard.log(),
            new dev.tidemark.shard.Command.ForgetErrors(frontier));
      }
      Optional<ReadHold> hold =
          noHold
              ? Optional.empty()
              : ReadHold.take(
                  context,
                  reader.conf,
                  shard,
                  "reading",
                  "errors",
                  "a read that takes longer than gc.keep may end by name");
      try {
        read(shard.log());
      } finally {
        hold.ifPresent(ReadHold::close);
      }
    }
    return Exit.DONE;
  }

  /** The hold was written first, so that what a checked state has stays. */
  private void read(ShardLog log) throws IOException {
    ShardState state = log.refreshChecked();
    RowCodec codec = new RowCodec(ErrorRows.SCHEMA);
    long shown = 0;
    try (UpdateCursor rows =
        new ShardReader(log).errors(state, SnapshotCommand.latest(url, state))) {
      for (; shown < limit && rows.next(); shown++) {
        show(codec.decode(rows.row(), rows.rowOffset(), rows.rowLength()), rows.diff());
      }
    }
    if (shown == 0 && !reader.json) {
      context.err().println("no error rows in " + url);
    }
  }

  private void show(@Nullable Object[] row, long diff) {
    byte[] raw = row[1] == null ? new byte[0] : (byte[]) row[1];
    Optional<String> text = text(raw);
    if (!reader.json) {
      String line = text.orElseGet(() -> raw.length + " bytes, not text");
      context
          .out()
          .line(
              String.valueOf(row[2])
                  + (String.valueOf(row[3]).isEmpty() ? "" : " (" + row[3] + ")")
                  + ": "
                  + row[0]
                  + (diff == 1 ? "" : "   (" + diff + " times)"));
      context
          .out()
          .line(
              "    "
                  + Failures.oneLine(
                      line.length() > SHOWN_CHARS ? line.substring(0, SHOWN_CHARS) + "..." : line));
      return;
    }
    ObjectNode node = Json.object();
    node.put("reason", (String) row[0])
        .put("origin", (String) row[2])
        .put("table", (String) row[3]);
    text.ifPresentOrElse(t -> node.put("raw", t), () -> node.put("rawBase64", raw));
    if (diff != 1) {
      node.put("__diff", diff);
    }
    context.out().line(Json.text(node));
  }

  private static Optional<String> text(byte[] raw) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(raw)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }
}
