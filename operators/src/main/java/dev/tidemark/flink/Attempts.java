package dev.tidemark.flink;

import dev.tidemark.log.Author;
import dev.tidemark.shard.WriterAttempt;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Who this process is, in the words of the log. */
public final class Attempts {
  /** Always with three digits behind the second, so that texts compare as the moments do. */
  private static final DateTimeFormatter MOMENT =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /** With what the attempts of this process begin. */
  private static final String PROCESS = ShardHandle.newId() + "-";

  private Attempts() {}

  /** A new attempt of a writer that begins now. */
  public static WriterAttempt begin(String writer, Clock clock) {
    String attempt = PROCESS + ShardHandle.newId();
    return new WriterAttempt(writer, MOMENT.format(clock.instant()), attempt, host());
  }

  /** Whether an attempt is of this process. */
  public static boolean isOurs(WriterAttempt attempt) {
    return attempt.attempt().startsWith(PROCESS);
  }

  /**
   * The same attempt, begun after {@code other} at least: clocks of two machines may differ, and an
   * attempt that has seen another in the log is younger than it.
   */
  public static WriterAttempt after(WriterAttempt attempt, WriterAttempt other) {
    if (attempt.started().compareTo(other.started()) > 0) {
      return attempt;
    }
    String later = MOMENT.format(Instant.parse(other.started()).plusMillis(1));
    return new WriterAttempt(attempt.writer(), later, attempt.attempt(), attempt.host());
  }

  /** A new attempt of a writer that begins now, in a role: install, merge, write. */
  public static Author author(String writer, Clock clock, String role) {
    return new Author(begin(writer, clock), role);
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException unnamed) {
      return "localhost";
    }
  }
}
