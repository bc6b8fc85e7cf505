package dev.tidemark.cli;

import dev.tidemark.flink.InputCounts;
import dev.tidemark.shard.ShardState;
import dev.tidemark.spine.Pressure;
import dev.tidemark.spine.Written;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** One line on how a job gets on. */
final class Progress {
  private Progress() {}

  static String line(
      Duration elapsed, Map<String, Long> counts, List<ShardWatch.Followed> shards, Instant now) {
    long read = counts.getOrDefault(InputCounts.READ, 0L);
    String begin = String.format(Locale.ROOT, "%4d s  read %,11d", elapsed.toSeconds(), read);
    return line(begin, counts, shards, now);
  }

  /** Where the job doesn't run, or not all of it. */
  static String line(Duration elapsed, String instead) {
    return String.format(Locale.ROOT, "%4d s  %s", elapsed.toSeconds(), instead);
  }

  /** Where nothing is read. */
  static String line(Duration elapsed, List<ShardWatch.Followed> shards, Instant now) {
    int count = shards.size();
    String begin =
        String.format(
            Locale.ROOT,
            "%4d s  %d %s",
            elapsed.toSeconds(),
            count,
            count == 1 ? "shard" : "shards");
    return line(begin, Map.of(), shards, now);
  }

  private static String line(
      String begin, Map<String, Long> counts, List<ShardWatch.Followed> shards, Instant now) {
    List<ShardWatch.Followed> open =
        shards.stream().filter(shard -> shard.state().exists()).toList();
    if (open.size() < shards.size()) {
      return begin + "  starting";
    }
    Frontier upper =
        shards.stream()
            .map(s -> s.state().upper())
            .min(Frontier::compareTo)
            .orElse(Frontier.MINIMUM);
    long runs = 0;
    long bound = 0;
    long appended = 0;
    long written = 0;
    long merges = 0;
    for (ShardWatch.Followed shard : open) {
      SpineFigures figures = shard.figures();
      runs += figures.runs();
      bound += figures.runsBound();
      Written counted = Objects.requireNonNullElse(shard.state().written(), Written.NONE);
      appended += counted.bytes();
      written += counted.bytes() + counted.merged();
      merges += counted.merges();
    }
    return String.format(
        Locale.ROOT,
        "%s  upper %-24s lag %-11s runs %d/%d  write amp %.1f  merges %d%s%s",
        begin,
        Times.text(upper),
        Times.lag(upper, now),
        runs,
        bound,
        appended == 0 ? 1.0 : written / (double) appended,
        merges,
        stall(open, counts),
        errors(open));
  }

  /** What merging holds up, or has: appends by all their milliseconds, the source by a mark. */
  private static String stall(List<ShardWatch.Followed> shards, Map<String, Long> counts) {
    long millis = 0;
    boolean presses = false;
    for (ShardWatch.Followed shard : shards) {
      millis += counts.getOrDefault(InputCounts.PREFIX + shard.name() + ".stallMillis", 0L);
      ShardState state = shard.state();
      presses |= Pressure.of(state.spec(), state.spine().count(0), false) > 0;
    }
    return (millis == 0 ? "" : String.format(Locale.ROOT, "  stalled %.1f s", millis / 1000.0))
        + (presses ? "  merges are behind" : "");
  }

  private static String errors(List<ShardWatch.Followed> shards) {
    long errors = 0;
    for (ShardWatch.Followed shard : shards) {
      ShardState state = shard.state();
      errors += LsCommand.errors(state);
    }
    return errors == 0 ? "" : "  errors " + errors;
  }
}
