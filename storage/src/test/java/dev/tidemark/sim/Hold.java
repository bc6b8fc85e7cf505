package dev.tidemark.sim;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;
import java.nio.charset.StandardCharsets;

/**
 * A reader's hold as an object.
 *
 * @param seqno the version its owner knew
 * @param since the oldest time its owner will read
 */
record Hold(SeqNo seqno, Frontier since) {
  /** How long a hold lasts after it was last written, by the store's clock. */
  static final long EXPIRY_MILLIS = 15 * 60_000L;

  byte[] encode() {
    return (seqno.value() + " " + since.time()).getBytes(StandardCharsets.UTF_8);
  }

  static Hold decode(byte[] bytes) {
    String[] words = new String(bytes, StandardCharsets.UTF_8).split(" ");
    return new Hold(new SeqNo(Long.parseLong(words[0])), new Frontier(Long.parseLong(words[1])));
  }
}
