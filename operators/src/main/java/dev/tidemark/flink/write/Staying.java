package dev.tidemark.flink.write;

import dev.tidemark.row.UpdateCursor;
import java.io.IOException;

/** What a description leaves behind of a lane: a few rows in memory, the others as sorted runs. */
final class Staying implements AutoCloseable {
  private final Lane.Rows rows = new Lane.Rows();
  private final Runs runs;
  private final long mostBytes;

  /**
   * Nothing yet.
   *
   * @param mostBytes what may stay in memory
   */
  Staying(SpillFolder folder, long mostBytes) {
    this.runs = new Runs(folder);
    this.mostBytes = mostBytes;
  }

  void add(UpdateCursor update) throws IOException {
    rows.add(update.row(), update.rowOffset(), update.rowLength(), update.time(), update.diff());
    if (rows.bytes() > mostBytes) {
      try (UpdateCursor sorted = rows.sorted()) {
        runs.add(sorted);
      }
      rows.clear();
    }
  }

  /** Those in memory. */
  Lane.Rows rows() {
    return rows;
  }

  /** The others. */
  Runs runs() {
    return runs;
  }

  @Override
  public void close() throws IOException {
    runs.close();
  }
}
