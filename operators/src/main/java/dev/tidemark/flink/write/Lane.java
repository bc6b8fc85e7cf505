package dev.tidemark.flink.write;

import dev.tidemark.row.RowBuffer;
import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One of the two streams of rows of a slot, its rows or its error rows: what came since the last
 * barrier is in memory and, where that is full, in runs on disk; what came before and still waits
 * is held in keyed state.
 */
final class Lane {
  /** What a row takes beside its bytes: time, diff, and its place in the index of a buffer. */
  private static final int ROW_OVERHEAD_BYTES = 40;

  /** A buffer that knows what is in it. */
  static final class Rows {
    private final RowBuffer buffer = new RowBuffer();
    private long bytes;
    private long minTime = Long.MAX_VALUE;

    void add(byte[] row, int offset, int length, long time, long diff) {
      buffer.add(row, offset, length, time, diff);
      bytes += length + ROW_OVERHEAD_BYTES;
      minTime = Math.min(minTime, time);
    }

    boolean isEmpty() {
      return bytes == 0;
    }

    /** What it takes in memory, about. */
    long bytes() {
      return bytes;
    }

    /** The least time in it. */
    long minTime() {
      return minTime;
    }

    UpdateCursor sorted() {
      return buffer.sorted();
    }

    void clear() {
      buffer.clear();
      bytes = 0;
      minTime = Long.MAX_VALUE;
    }
  }

  private Rows rows = new Rows();
  private @Nullable Runs spilled;
  private boolean held;
  private long heldMinTime = Long.MIN_VALUE;

  /** The rows in memory. */
  Rows rows() {
    return rows;
  }

  /** Whether the slot's keyed state holds rows of this lane. */
  boolean held() {
    return held;
  }

  void held(boolean now) {
    held = now;
  }

  /** No row in keyed state has a time below this. */
  long heldMinTime() {
    return heldMinTime;
  }

  /** Says what keyed state has from now on. */
  void held(boolean now, long minTime) {
    held = now;
    heldMinTime = minTime;
  }

  /** Says that keyed state has more. */
  void addHeld(long minTime) {
    heldMinTime = held ? Math.min(heldMinTime, minTime) : minTime;
    held = true;
  }

  /** The runs on disk; null: none. */
  @Nullable Runs spilled() {
    return spilled;
  }

  /** Puts the rows in memory on disk. */
  void spill(SpillFolder folder) throws IOException {
    if (rows.isEmpty()) {
      return;
    }
    Runs runs = spilled == null ? new Runs(folder) : spilled;
    spilled = runs;
    try (UpdateCursor sorted = rows.sorted()) {
      runs.add(sorted);
    }
    rows.clear();
  }

  /** Gives the runs on disk away. */
  @Nullable Runs takeSpilled() {
    Runs taken = spilled;
    spilled = null;
    return taken;
  }

  /** Whether it has rows in memory or on disk. */
  boolean isEmpty() {
    return rows.isEmpty() && spilled == null;
  }

  /** Gives the rows in memory away. */
  Rows take() {
    Rows taken = rows;
    rows = new Rows();
    return taken;
  }

  /** Takes back rows that were given away and may not leave yet. */
  void putBack(Staying stayed) throws Exception {
    Runs runs = stayed.runs();
    if (spilled == null && !runs.isEmpty()) {
      spilled = runs;
    } else if (spilled != null) {
      spilled.addAll(runs);
      runs.close();
    }
    if (rows.isEmpty()) {
      rows = stayed.rows();
      return;
    }
    try (UpdateCursor all = stayed.rows().sorted()) {
      while (all.next()) {
        rows.add(all.row(), all.rowOffset(), all.rowLength(), all.time(), all.diff());
      }
    }
  }
}
