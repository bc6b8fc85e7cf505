package dev.tidemark.law;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a batch holds: distinct rows with counts at times, which merges sum up, and loose rows,
 * which nothing ever cancels and which are kept as figures only, so that large batches cost
 * nothing.
 *
 * <p>A row is a number whose lowest four bits say how large it is; see {@link #row}.
 */
final class Contents {
  /** Row bytes by size class. */
  private static final long[] SIZES = {16, 100, 1_000, 20_000, 1 << 20};

  /** No rows. */
  static final Contents NONE = new Contents(List.of(), Loose.NONE);

  /** The rows of one time, ascending, with counts that aren't 0. */
  private record Segment(long time, long[] rows, int[] counts) {}

  /** Rows that cancel nothing. */
  private record Loose(long rows, long bytes, long retracted, long sum, long maxTime) {
    static final Loose NONE = new Loose(0, 0, 0, 0, Long.MIN_VALUE);

    Loose plus(Loose other) {
      return new Loose(
          rows + other.rows,
          bytes + other.bytes,
          retracted + other.retracted,
          sum + other.sum,
          Math.max(maxTime, other.maxTime));
    }

    Loose advancedTo(long since) {
      return rows == 0 ? this : new Loose(rows, bytes, retracted, sum, Math.max(maxTime, since));
    }
  }

  private final List<Segment> segments;
  private final Loose loose;

  private Contents(List<Segment> segments, Loose loose) {
    this.segments = segments;
    this.loose = loose;
  }

  /** A version of a key's row; the size class is from 0, 16 bytes, to 4, a mebibyte. */
  static long row(int key, int version, int sizeClass) {
    return ((long) key << 32) | ((long) version << 4) | sizeClass;
  }

  /** Some rows at a time; of the same row several times, the counts are summed up. */
  static Contents of(long time, long[] rows, int[] counts) {
    Segment sum = new Segment(time, new long[0], new int[0]);
    for (int i = 0; i < rows.length; i++) {
      sum = sum(sum, new Segment(time, new long[] {rows[i]}, new int[] {counts[i]}), time);
    }
    return sum.rows.length == 0 ? NONE : new Contents(List.of(sum), Loose.NONE);
  }

  /** So many bytes of rows that nothing cancels, of which some are retractions, as one row each. */
  static Contents loose(long time, long bytes, long retracted) {
    long plus = bytes - retracted;
    long rows = (plus > 0 ? 1 : 0) + (retracted > 0 ? 1 : 0);
    long sum = (plus > 0 ? 1 : 0) - (retracted > 0 ? 1 : 0);
    return rows == 0 ? NONE : new Contents(List.of(), new Loose(rows, bytes, retracted, sum, time));
  }

  /** The rows of all, times advanced to {@code since}, equal rows summed up. */
  static Contents merge(List<Contents> inputs, long since) {
    List<Segment> past = new ArrayList<>();
    List<Segment> later = new ArrayList<>();
    Loose loose = Loose.NONE;
    for (Contents input : inputs) {
      for (Segment segment : input.segments) {
        (segment.time <= since ? past : later).add(segment);
      }
      loose = loose.plus(input.loose);
    }
    if (!past.isEmpty()) {
      Segment summed = sum(past, since);
      if (summed.rows.length > 0) {
        later.add(0, summed);
      }
    }
    return new Contents(later, loose.advancedTo(since));
  }

  private static Segment sum(List<Segment> segments, long time) {
    if (segments.size() == 1) {
      return new Segment(time, segments.get(0).rows, segments.get(0).counts);
    }
    int half = segments.size() / 2;
    return sum(
        sum(segments.subList(0, half), time),
        sum(segments.subList(half, segments.size()), time),
        time);
  }

  private static Segment sum(Segment one, Segment two, long time) {
    long[] rows = new long[one.rows.length + two.rows.length];
    int[] counts = new int[rows.length];
    int i = 0;
    int j = 0;
    int size = 0;
    while (i < one.rows.length || j < two.rows.length) {
      boolean first = j == two.rows.length || (i < one.rows.length && one.rows[i] <= two.rows[j]);
      boolean second = i == one.rows.length || (j < two.rows.length && two.rows[j] <= one.rows[i]);
      long row = first ? one.rows[i] : two.rows[j];
      int count = (first ? one.counts[i++] : 0) + (second ? two.counts[j++] : 0);
      if (count != 0) {
        rows[size] = row;
        counts[size++] = count;
      }
    }
    return new Segment(time, Arrays.copyOf(rows, size), Arrays.copyOf(counts, size));
  }

  private static long size(long row) {
    return SIZES[(int) (row & 15)];
  }

  /** The number of updates: rows at times. */
  long rows() {
    return loose.rows + segments.stream().mapToLong(segment -> segment.rows.length).sum();
  }

  /** Their row bytes, whatever the counts. */
  long bytes() {
    long bytes = loose.bytes;
    for (Segment segment : segments) {
      for (long row : segment.rows) {
        bytes += size(row);
      }
    }
    return bytes;
  }

  /** The bytes of the rows with a negative count. */
  long retracted() {
    long bytes = loose.retracted;
    for (Segment segment : segments) {
      for (int i = 0; i < segment.rows.length; i++) {
        bytes += segment.counts[i] < 0 ? size(segment.rows[i]) : 0;
      }
    }
    return bytes;
  }

  /** The sum of the counts. */
  long sum() {
    long sum = loose.sum;
    for (Segment segment : segments) {
      for (int count : segment.counts) {
        sum += count;
      }
    }
    return sum;
  }

  /** The greatest time, {@code Long.MIN_VALUE} without rows. */
  long maxTime() {
    long last = segments.isEmpty() ? Long.MIN_VALUE : segments.get(segments.size() - 1).time;
    return Math.max(last, loose.maxTime);
  }
}
