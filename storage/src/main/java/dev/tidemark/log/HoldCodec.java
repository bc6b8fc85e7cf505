package dev.tidemark.log;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;

/** Holds as JSON, in their one form: docs/format.md. Keys of a later minor format are skipped. */
public final class HoldCodec {
  private HoldCodec() {}

  /** A hold's bytes. */
  public static byte[] encode(Hold hold) {
    return LogCodec.write(
        out -> {
          out.begin();
          out.text("format", LogCodec.FORMAT);
          out.integer("seqno", hold.seqno().value());
          out.time("since", hold.since().time());
          out.integer("leaseMillis", hold.leaseMillis());
          out.text("purpose", hold.purpose());
          out.text("host", hold.host());
          out.end();
        });
  }

  /**
   * A hold from bytes.
   *
   * @param origin the key it came from, for messages
   * @throws LogFormatException when it can't be read, naming the key and the place
   */
  public static Hold decode(byte[] bytes, String origin) throws LogFormatException {
    JsonObject in = JsonObject.parse(bytes, origin);
    LogCodec.checkFormat(in.text("format"), origin);
    try {
      SeqNo seqno = new SeqNo(in.count("seqno"));
      Frontier since = in.frontier("since");
      return new Hold(seqno, since, in.count("leaseMillis"), in.text("purpose"), in.text("host"));
    } catch (IllegalArgumentException e) {
      throw new LogFormatException(origin + ": " + e.getMessage(), false, e);
    }
  }
}
