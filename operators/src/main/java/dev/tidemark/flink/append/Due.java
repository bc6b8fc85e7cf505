package dev.tidemark.flink.append;

import dev.tidemark.flink.message.WrittenBatch;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.List;

/**
 * What is to be appended to a shard.
 *
 * @param batches the written batches that may be
 * @param promise how far the append may go
 * @param start the shard's upper when a job that began without state first met it: what this job
 *     writes lies above, whatever its descriptions say; else the minimum
 * @param known how far the shard had come when this writer last looked
 */
record Due(List<WrittenBatch> batches, Promise promise, Frontier start, Frontier known) {
  /** Copies the list. */
  Due {
    batches = List.copyOf(batches);
  }

  /** Where the end of input lies: behind every row, and behind all that was promised before. */
  Frontier end() {
    if (!promise.frontier().isEnd()) {
      return promise.frontier();
    }
    Frontier end = promise.lastFinite();
    for (WrittenBatch batch : batches) {
      long last = batch.batch().maxTime();
      // Error rows without a time of their own stand just behind the minimum: nowhere to read at.
      end = end.max(Frontier.of(last <= Long.MIN_VALUE + 1 ? 0 : last + 1));
    }
    return end;
  }

  /**
   * The batches that a shard has gone past, for whoever doesn't append. Only strictly past: who
   * appends now may still fail with what ends just there. Behind the end of the input nothing goes.
   */
  List<WrittenBatch> passedBy(Frontier shardUpper) {
    Frontier end = end();
    List<WrittenBatch> passed = new ArrayList<>();
    for (WrittenBatch batch : batches) {
      Frontier upper = batch.bounds().upper().min(end);
      if (upper.isBefore(shardUpper) || (promise.frontier().isEnd() && upper.equals(shardUpper))) {
        passed.add(batch);
      }
    }
    return passed;
  }
}
