package dev.tidemark.log;

import dev.tidemark.shard.Diff;
import dev.tidemark.shard.Fact;
import dev.tidemark.shard.SeqNo;
import dev.tidemark.shard.WriterAttempt;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Log entries, rollups and facts as JSON: the exact form is docs/format.md's. Canonical: equal
 * values give equal bytes. Unknown keys of facts, batches and parts are kept in them; those of the
 * entry around them need not be, as an entry is never written again.
 */
public final class LogCodec {
  /** The format that this build writes. */
  public static final String FORMAT = "1.0";

  /** The command that a rollup names. */
  public static final String ROLLUP = "rollup";

  private static final int MAJOR = 1;

  private LogCodec() {}

  /** An entry's bytes. */
  public static byte[] encode(LogEntry entry) {
    return write(
        out -> {
          out.begin();
          out.text("format", entry.format());
          out.text("shard", entry.shard());
          out.integer("seqno", entry.seqno().value());
          out.text("nonce", entry.nonce());
          out.text("at", entry.at());
          out.begin("by");
          WriterAttempt attempt = entry.by().attempt();
          out.text("writer", attempt.writer());
          out.text("started", attempt.started());
          out.text("attempt", attempt.attempt());
          out.text("host", attempt.host());
          out.text("role", entry.by().role());
          out.end();
          out.text("command", entry.command());
          if (!entry.command().equals(ROLLUP)) {
            out.facts("remove", entry.diff().remove());
          }
          out.facts("add", entry.diff().add());
          out.end();
        });
  }

  /**
   * An entry from bytes.
   *
   * @param origin the key it came from, for messages
   * @throws LogFormatException when it can't be read, naming the key and the place; of a newer
   *     major format, naming both
   */
  public static LogEntry decode(byte[] bytes, String origin) throws LogFormatException {
    JsonObject in = JsonObject.parse(bytes, origin);
    String format = in.text("format");
    checkFormat(format, origin);
    try {
      String shard = in.text("shard");
      SeqNo seqno = new SeqNo(in.count("seqno"));
      String nonce = in.text("nonce");
      String at = in.text("at");
      JsonObject by = in.child("by");
      Author author =
          new Author(
              new WriterAttempt(
                  by.text("writer"), by.text("started"), by.text("attempt"), by.text("host")),
              by.text("role"));
      String command = in.text("command");
      List<Fact> remove =
          command.equals(ROLLUP) && !in.has("remove") ? List.of() : facts(in, "remove");
      return new LogEntry(
          format, shard, seqno, nonce, at, author, command, new Diff(remove, facts(in, "add")));
    } catch (IllegalArgumentException e) {
      throw new LogFormatException(origin + ": " + e.getMessage(), false, e);
    }
  }

  private static List<Fact> facts(JsonObject in, String key) throws LogFormatException {
    List<Fact> facts = new ArrayList<>();
    for (JsonObject child : in.children(key)) {
      facts.add(FactReader.read(child));
    }
    return facts;
  }

  /** Refuses a format that this build must not read. */
  static void checkFormat(String format, String origin) throws LogFormatException {
    int dot = format.indexOf('.');
    int major;
    try {
      if (dot < 0 || Integer.parseInt(format.substring(dot + 1)) < 0) {
        throw new NumberFormatException(format);
      }
      major = Integer.parseInt(format.substring(0, dot));
    } catch (NumberFormatException e) {
      throw new LogFormatException(origin + ": no format version: " + format, false, e);
    }
    if (major > MAJOR) {
      throw new LogFormatException(
          origin
              + ": written in format "
              + format
              + ", this build reads up to format "
              + FORMAT
              + " and its minor versions; use a newer Tidemark",
          true,
          null);
    }
    if (major < MAJOR) {
      throw new LogFormatException(origin + ": no format version: " + format, false, null);
    }
  }

  /** A fact alone: {@code {"batch":{...}}}. */
  public static byte[] encodeFact(Fact fact) {
    return write(out -> out.fact(fact));
  }

  /** A fact from bytes. */
  public static Fact decodeFact(byte[] bytes, String origin) throws LogFormatException {
    try {
      return FactReader.read(JsonObject.parse(bytes, origin));
    } catch (IllegalArgumentException e) {
      throw new LogFormatException(origin + ": " + e.getMessage(), false, e);
    }
  }

  interface Writing {
    void to(FactWriter out) throws IOException;
  }

  static byte[] write(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (FactWriter out = new FactWriter(bytes)) {
      writing.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException("a value that has no JSON form", e);
    }
    return bytes.toByteArray();
  }
}
