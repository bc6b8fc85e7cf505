package dev.tidemark.flink.decode;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How far event time has come by the rows of one subtask. Decides only: the clock is an argument,
 * in milliseconds that stand still while the subtask can't get rows.
 *
 * <ol>
 *   <li>Each partition stands {@code delay} behind its latest row, and at the minimum before its
 *       first. The least of them is the watermark.
 *   <li>A partition without rows for {@code idleTimeout} is idle and holds nothing back. Once all
 *       are, nothing is waited for: the watermark is that of the latest row, without the delay, so
 *       that the last rows before a pause can be read. It doesn't matter who fell idle first.
 *   <li>A row ends its partition's idleness at once, however old it is.
 *   <li>A partition that is over holds nothing back; where it stood counts once none is left, and
 *       its latest row once none has been left for {@code idleTimeout}.
 *   <li>A subtask that has been given no partition yet holds everything back, but for {@link
 *       #ASSIGNMENT_MILLIS} only: there may be fewer partitions than subtasks.
 * </ol>
 */
final class RowTimes {
  /** How long a subtask waits for its first partition: far longer than handing them out takes. */
  static final long ASSIGNMENT_MILLIS = 10_000;

  /** A partition that holds the watermark and has been silent for so long is spoken of. */
  static final long SILENT_MILLIS = 30_000;

  private final long delayMillis;
  private final long idleMillis;
  private final boolean byPartition;
  private final long begunMillis;
  private final Map<String, Partition> partitions = new LinkedHashMap<>();
  private @Nullable Partition recent;
  private boolean assigned;
  private long gone = Long.MIN_VALUE;
  private long goneLatest = Long.MIN_VALUE;
  private boolean goneLately;
  private long goneSinceMillis;
  private int silent;

  private static final class Partition {
    final String name;
    long latest = Long.MIN_VALUE;
    long rows;
    long rowsSeen;
    long silentSinceMillis;
    boolean idle;
    boolean spokenOf;

    Partition(String name, long nowMillis) {
      this.name = name;
      this.silentSinceMillis = nowMillis;
    }
  }

  /**
   * Where event time stands.
   *
   * @param watermark no row at or before it is waited for
   * @param idle whether nothing is waited for at all
   */
  record Progress(long watermark, boolean idle) {}

  RowTimes(WatermarkSettings settings, long nowMillis) {
    this.delayMillis = settings.delay().toMillis();
    this.idleMillis =
        settings.idleTimeout() == null ? Long.MAX_VALUE : settings.idleTimeout().toMillis();
    this.byPartition = settings.byPartition();
    this.begunMillis = nowMillis;
    if (!byPartition) {
      assigned("the whole input", nowMillis);
    }
  }

  /** The subtask has a partition from now on. */
  void assigned(String name, long nowMillis) {
    assigned = true;
    partitions.computeIfAbsent(name, key -> new Partition(key, nowMillis));
  }

  /** A partition is at its end, or another's. */
  void over(String name) {
    Partition partition = partitions.remove(name);
    if (partition != null) {
      gone = Math.max(gone, partition.idle ? partition.latest : watermark(partition));
      goneLatest = Math.max(goneLatest, partition.latest);
      goneLately = true;
      recent = null;
    }
  }

  /** A row came, or something else with a time of its own. */
  void row(String name, long time) {
    Partition partition = recent;
    if (partition == null || (byPartition && !partition.name.equals(name))) {
      partition = byPartition ? partitions.get(name) : partitions.values().iterator().next();
      if (partition == null) {
        throw new IllegalStateException("a row of " + name + ", which this subtask wasn't given");
      }
      recent = partition;
    }
    partition.rows++;
    partition.idle = false;
    partition.latest = Math.max(partition.latest, time);
  }

  private long watermark(Partition partition) {
    long latest = partition.latest;
    return latest < Long.MIN_VALUE + delayMillis + 1 ? Long.MIN_VALUE : latest - delayMillis - 1;
  }

  /** Looks who has been silent, and says where event time stands now. */
  Progress tick(long nowMillis) {
    long least = Long.MAX_VALUE;
    long reached = gone;
    boolean waiting = false;
    for (Partition partition : partitions.values()) {
      if (partition.rows != partition.rowsSeen) {
        partition.rowsSeen = partition.rows;
        partition.silentSinceMillis = nowMillis;
        partition.spokenOf = false;
      } else if (nowMillis - partition.silentSinceMillis >= idleMillis) {
        partition.idle = true;
      }
      if (partition.idle) {
        reached = Math.max(reached, partition.latest);
      } else {
        waiting = true;
        least = Math.min(least, watermark(partition));
      }
    }
    if (goneLately) {
      goneLately = false;
      goneSinceMillis = nowMillis;
    }
    if (waiting) {
      return new Progress(least, false);
    }
    if (nowMillis - goneSinceMillis >= idleMillis) {
      reached = Math.max(reached, goneLatest);
    }
    boolean unassigned = !assigned && nowMillis - begunMillis < ASSIGNMENT_MILLIS;
    return new Progress(reached, !unassigned);
  }

  /** Who holds the watermark, has been silent for long and wasn't spoken of since: once each. */
  List<String> newlySilent(long nowMillis) {
    List<String> found = new ArrayList<>();
    silent = 0;
    if (idleMillis == Long.MAX_VALUE) {
      long least = tick(nowMillis).watermark();
      for (Partition partition : partitions.values()) {
        if (watermark(partition) == least
            && nowMillis - partition.silentSinceMillis >= SILENT_MILLIS) {
          silent++;
          if (!partition.spokenOf) {
            partition.spokenOf = true;
            found.add(partition.name);
          }
        }
      }
    }
    return found;
  }

  /** How many partitions held the watermark silently when it was last looked. */
  int silent() {
    return silent;
  }
}
