package dev.tidemark.job;

import static dev.tidemark.job.OptionKey.fixed;

import dev.tidemark.gc.GcSettings;
import dev.tidemark.hold.Holds;
import java.time.Duration;
import java.util.List;

/** The keys of garbage collection and of holds, for the job and for the command line alike. */
public final class UpkeepKeys {
  static final OptionKey<Duration> INTERVAL =
      fixed(
          "gc.interval",
          OptionType.DURATION,
          "10 min",
          "a round costs a few requests, garbage some cents a day",
          "How often the job collects the garbage of each shard, a tenth sooner or later.");
  static final OptionKey<Duration> KEEP =
      fixed(
          "gc.keep",
          OptionType.DURATION,
          "1 h",
          "readers without a hold are done by then",
          "How long parts stay after they left the shard; at least 10 min.");
  static final OptionKey<Duration> ORPHAN_AGE =
      fixed(
          "gc.orphan-age",
          OptionType.DURATION,
          "7 days",
          "a job may be restored after a long weekend",
          "How old an uploaded part that nobody named must be to go; at least 1 day, and more than the oldest checkpoint that may be restored.");
  static final OptionKey<Boolean> UNSAFE =
      fixed(
          "gc.unsafe",
          OptionType.BOOLEAN,
          "false",
          "below the least, a reader loses its parts, a restored job its batches",
          "Takes `gc.keep` and `gc.orphan-age` below the least they may be: for trials only.");
  static final OptionKey<Duration> HOLD_EXPIRY =
      fixed(
          "hold.expiry",
          OptionType.DURATION,
          "15 min",
          "longer than a reader pauses, shorter than its garbage costs",
          "How long a reader's hold lasts that isn't renewed; 1 min to 1 day. A dead reader holds garbage for so long.");

  static final List<OptionKey<?>> ALL = List.of(INTERVAL, KEEP, ORPHAN_AGE, UNSAFE, HOLD_EXPIRY);

  /** Below that the rounds of one shard would follow each other at once. */
  private static final Duration LEAST_INTERVAL = Duration.ofSeconds(1);

  private UpkeepKeys() {}

  /**
   * How carefully garbage is collected.
   *
   * @throws OptionException naming the key and the least it may be
   */
  public static GcSettings gc(Options options) {
    return gc(options.value(KEEP), options.value(ORPHAN_AGE), options.value(UNSAFE));
  }

  /**
   * How carefully garbage is collected, by what the command line says or else the options.
   *
   * @throws OptionException naming the key and the least it may be
   */
  public static GcSettings gc(Options options, String keep, String orphanAge, boolean unsafe) {
    return gc(
        keep.isEmpty() ? options.value(KEEP) : duration("--keep", keep),
        orphanAge.isEmpty() ? options.value(ORPHAN_AGE) : duration("--orphan-age", orphanAge),
        unsafe || options.value(UNSAFE));
  }

  private static GcSettings gc(Duration keep, Duration orphanAge, boolean unsafe) {
    try {
      return unsafe ? GcSettings.unsafe(keep, orphanAge) : GcSettings.of(keep, orphanAge);
    } catch (IllegalArgumentException e) {
      throw new OptionException(
          e.getMessage() + (unsafe ? "" : "; gc.unsafe takes less, for trials only"));
    }
  }

  private static Duration duration(String option, String text) {
    try {
      return Amounts.duration(text);
    } catch (RuntimeException e) {
      throw new OptionException(option + " " + text + ": " + e.getMessage());
    }
  }

  /** How often garbage is collected. */
  static Duration interval(Options options) {
    Duration interval = options.value(INTERVAL);
    if (interval.compareTo(LEAST_INTERVAL) < 0) {
      throw new OptionException(
          "gc.interval = " + Amounts.text(interval) + ": must be at least 1 s");
    }
    return interval;
  }

  /**
   * How long a hold lasts.
   *
   * @throws OptionException naming the bounds
   */
  public static Duration holdExpiry(Options options) {
    Duration expiry = options.value(HOLD_EXPIRY);
    try {
      Holds.checkLease(expiry);
    } catch (IllegalArgumentException e) {
      throw new OptionException(
          "hold.expiry = "
              + Amounts.text(expiry)
              + ": must be from "
              + Amounts.text(Holds.LEAST_LEASE)
              + " to "
              + Amounts.text(Holds.GREATEST_LEASE));
    }
    return expiry;
  }
}
