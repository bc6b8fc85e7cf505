package dev.tidemark.gc;

import java.io.Serializable;
import java.time.Duration;

/**
 * How careful garbage collection is, and how much it does at a time.
 *
 * @param keep gc.keep: how long parts stay after they left, so that a state once loaded can be read
 * @param orphanAge gc.orphan-age: how old a part must be at least that nobody ever named; more than
 *     the longest checkpoint or pause of a job that may be restored
 * @param mostEntries log entries read in one round
 * @param mostDeletes objects deleted in one round
 */
public record GcSettings(Duration keep, Duration orphanAge, int mostEntries, int mostDeletes)
    implements Serializable {
  /** The least gc.keep: a refresh, a plan and opening a part's files take that at worst. */
  public static final Duration LEAST_KEEP = Duration.ofMinutes(10);

  /** The least gc.orphan-age: days are the unit of sweeping, and clocks may be wrong by hours. */
  public static final Duration LEAST_ORPHAN_AGE = Duration.ofDays(1);

  /** Above that a setting is a mistake, such as a date for a duration. */
  public static final Duration GREATEST = Duration.ofDays(3650);

  private static final int MOST_ENTRIES = 4096;
  private static final int MOST_DELETES = 10_000;

  /** What a shard gets unless told otherwise: 1 h and 7 days. */
  public static final GcSettings DEFAULT = of(Duration.ofHours(1), Duration.ofDays(7));

  /** Checks that a round gets somewhere. */
  public GcSettings {
    if (keep.isNegative() || orphanAge.isNegative() || mostEntries < 1 || mostDeletes < 1) {
      throw new IllegalArgumentException("negative: " + keep + ", " + orphanAge);
    }
  }

  /**
   * Settings for real shards.
   *
   * @throws IllegalArgumentException when one makes no sense, naming it and its bounds
   */
  public static GcSettings of(Duration keep, Duration orphanAge) {
    check("gc.keep", keep, LEAST_KEEP);
    check("gc.orphan-age", orphanAge, LEAST_ORPHAN_AGE);
    return new GcSettings(keep, orphanAge, MOST_ENTRIES, MOST_DELETES);
  }

  /**
   * Settings below the least, for a shard that nobody reads or writes meanwhile: a state once
   * loaded may then not be readable any more, and a job may be refused what it was restored with.
   *
   * @throws IllegalArgumentException when one makes no sense all the same
   */
  public static GcSettings unsafe(Duration keep, Duration orphanAge) {
    check("gc.keep", keep, Duration.ZERO);
    check("gc.orphan-age", orphanAge, Duration.ZERO);
    return new GcSettings(keep, orphanAge, MOST_ENTRIES, MOST_DELETES);
  }

  private static void check(String name, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(GREATEST) > 0) {
      throw new IllegalArgumentException(
          name + " is " + text(value) + ": must be from " + text(least) + " to " + text(GREATEST));
    }
  }

  /** As people write it: with the largest unit that leaves no rest. */
  private static String text(Duration value) {
    long millis = value.toMillis();
    if (millis == 0) {
      return "0 s";
    }
    if (millis % 86_400_000 == 0) {
      return value.toDays() + " days";
    }
    if (millis % 3_600_000 == 0) {
      return value.toHours() + " h";
    }
    if (millis % 60_000 == 0) {
      return value.toMinutes() + " min";
    }
    return millis % 1000 == 0 ? value.toSeconds() + " s" : millis + " ms";
  }
}
