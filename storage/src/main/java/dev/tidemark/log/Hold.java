package dev.tidemark.log;

import dev.tidemark.shard.SeqNo;
import dev.tidemark.time.Frontier;

/**
 * What somebody who reads for long asks of everybody else: while it lives, parts that leave after
 * {@code seqno} stay, and no merge goes past {@code since}.
 *
 * @param seqno the version that its owner knew
 * @param since the oldest time that its owner will read
 * @param leaseMillis how long it lives after it was last written, by the store's clock
 * @param purpose what it is for, for people
 * @param host where its owner runs, for people
 */
public record Hold(SeqNo seqno, Frontier since, long leaseMillis, String purpose, String host) {
  /** Checks that the lease is positive. */
  public Hold {
    if (leaseMillis < 1) {
      throw new IllegalArgumentException("leaseMillis is " + leaseMillis + ": must be positive");
    }
  }

  /** The same hold moved to a later version and time. */
  public Hold at(SeqNo later, Frontier laterSince) {
    return new Hold(later, laterSince, leaseMillis, purpose, host);
  }
}
