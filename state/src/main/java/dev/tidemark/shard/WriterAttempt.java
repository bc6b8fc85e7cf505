package dev.tidemark.shard;

import java.io.Serializable;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/**
 * Who writes: one attempt of one writer. Attempts of a writer are ordered by (started, attempt).
 *
 * @param writer the writer's id, the same over restarts
 * @param started when this attempt began, ISO-8601, for ordering among attempts of this writer only
 * @param attempt unique to the attempt
 * @param host where it runs, for people
 */
public record WriterAttempt(String writer, String started, String attempt, String host)
    implements Serializable {
  /** Whether this attempt began before {@code other}, an attempt of the same writer. */
  public boolean isOlderThan(WriterAttempt other) {
    int byStart = compareStarts(started, other.started);
    return byStart != 0 ? byStart < 0 : attempt.compareTo(other.attempt) < 0;
  }

  /** By the instants, as the number of fraction digits varies; by text where one is no instant. */
  private static int compareStarts(String one, String other) {
    if (one.equals(other)) {
      return 0;
    }
    try {
      return Instant.parse(one).compareTo(Instant.parse(other));
    } catch (DateTimeParseException notInstants) {
      return one.compareTo(other);
    }
  }
}
