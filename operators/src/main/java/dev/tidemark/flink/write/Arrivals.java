package dev.tidemark.flink.write;

import dev.tidemark.flink.InputCounts.Fate;
import dev.tidemark.flink.LateRows;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.flink.message.Update;
import dev.tidemark.row.RowCodec;
import dev.tidemark.schema.Schema;
import dev.tidemark.time.Frontier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Weighs updates as they arrive, with commit = frontier: counts those that are left out, and fails
 * the job for a late one where it is told to.
 */
final class Arrivals {
  private static final Logger LOG = LoggerFactory.getLogger(Arrivals.class);

  /** Late rows are told of this often, with one of them: more would drown the rest. */
  private static final long TELL_MILLIS = Duration.ofMinutes(1).toMillis();

  private static final int MOST_ROW_TEXT = 200;

  private final WriteOptions options;
  private final LeftOut counts;
  private final List<Frontier> stored;
  private final LongSupplier clock;
  private final long[] toldAt;
  private final long[] untold;

  /**
   * For one attempt.
   *
   * @param stored the uppers of the shards' logs when it began
   */
  Arrivals(WriteOptions options, LeftOut counts, List<Frontier> stored, LongSupplier clock) {
    this.options = options;
    this.counts = counts;
    this.stored = stored;
    this.clock = clock;
    this.toldAt = new long[stored.size()];
    this.untold = new long[stored.size()];
    Arrays.fill(toldAt, Long.MIN_VALUE);
  }

  /**
   * Whether an update is to be stored.
   *
   * @param closed up to where this attempt has closed
   * @throws StopForGoodException naming the row when it is late and {@code late = fail}
   */
  boolean takes(Update update, Frontier closed) {
    Frontier there = stored.get(update.shard);
    switch (Arrival.of(update.error, update.time, closed, there)) {
      case LATE -> {
        late(update, closed);
        return false;
      }
      case REPLAYED -> {
        if (!update.companion) {
          counts.count(update.shard, update.error, Fate.REPLAYED);
        }
        return false;
      }
      case TAKEN -> {
        if (update.error && !there.isMinimum()) {
          update.time = Math.max(update.time, there.time()); // below it nothing can be added
        }
        return true;
      }
    }
    throw new AssertionError(update);
  }

  private void late(Update update, Frontier closed) {
    if (options.settings().commit().late() == LateRows.FAIL) {
      throw new StopForGoodException(
          "shard "
              + options.shards().get(update.shard).url()
              + ": a row came late: "
              + describe(update, closed)
              + ". late = fail: raise source.watermark-delay; or take late = drop, or commit ="
              + " checkpoint, which stores late rows with the next open time");
    }
    if (update.companion) {
      return;
    }
    counts.count(update.shard, update.error, Fate.LATE);
    untold[update.shard]++;
    long now = clock.getAsLong();
    if (toldAt[update.shard] == Long.MIN_VALUE || now - toldAt[update.shard] >= TELL_MILLIS) {
      LOG.warn(
          "shard {}: {} late rows dropped (late = drop), the last one {}",
          options.shards().get(update.shard).name(),
          untold[update.shard],
          describe(update, closed));
      toldAt[update.shard] = now;
      untold[update.shard] = 0;
    }
  }

  /** The key of a row and how late it is. */
  private String describe(Update update, Frontier closed) {
    Schema schema = options.shards().get(update.shard).schema();
    Object[] values = new RowCodec(schema).decode(update.row, 0, update.row.length);
    List<String> columns = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      String name = schema.columns().get(i).name();
      if (schema.key().isEmpty() || schema.key().contains(name)) {
        columns.add(name + " = " + values[i]);
      }
    }
    String row = String.join(", ", columns);
    return "("
        + (row.length() > MOST_ROW_TEXT ? row.substring(0, MOST_ROW_TEXT) + "…" : row)
        + ") of time "
        + update.time
        + ", where times below "
        + closed
        + " are closed";
  }
}
