package dev.tidemark.flink.write;

import dev.tidemark.flink.message.Update;

/** What one slot of one shard has in memory. */
final class Slot {
  private final int shard;
  private final int key;
  private final Lane rows = new Lane();
  private final Lane errors = new Lane();

  Slot(int shard, int key) {
    this.shard = shard;
    this.key = key;
  }

  int shard() {
    return shard;
  }

  int key() {
    return key;
  }

  Lane rows() {
    return rows;
  }

  Lane errors() {
    return errors;
  }

  void add(Update update) {
    Lane lane = update.error ? errors : rows;
    lane.rows().add(update.row, 0, update.row.length, update.time, update.diff);
  }

  /** Whether it has rows in memory or on disk. */
  boolean isEmpty() {
    return rows.isEmpty() && errors.isEmpty();
  }

  /** What it takes in memory, about. */
  long bytes() {
    return rows.rows().bytes() + errors.rows().bytes();
  }
}
