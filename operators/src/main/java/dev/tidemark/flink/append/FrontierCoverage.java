package dev.tidemark.flink.append;

import dev.tidemark.time.Frontier;
import java.util.Map;

/**
 * With commit = frontier: a batch may be appended once the watermark has passed its upper, whatever
 * the checkpoints do.
 *
 * <p>Only a job that begins without state and whose rows are new ({@code start = append}) waits for
 * its first checkpoint: that keeps from which time on they are. Without it, a restart would take
 * what the attempt before has appended for the rows of others.
 */
final class FrontierCoverage implements Coverage {
  private Promise promise;
  private boolean gated;
  private long checkpoint;

  /**
   * Begins.
   *
   * @param restored what a restored state was promised
   * @param gated whether the first append waits for a checkpoint
   */
  FrontierCoverage(Promise restored, boolean gated) {
    this.promise = restored;
    this.gated = gated;
  }

  @Override
  public void promise(Frontier frontier) {
    promise = promise.advance(frontier);
  }

  @Override
  public void barrier(long id) {
    checkpoint = id;
  }

  @Override
  public void completed(long id) {
    gated = false;
  }

  @Override
  public Promise covered() {
    return gated ? Promise.NOTHING : promise;
  }

  @Override
  public boolean covers(long tag, Frontier upper) {
    return !gated && !upper.isAfter(promise.frontier());
  }

  @Override
  public boolean isGated() {
    return gated;
  }

  @Override
  public Map<Long, Long> state() {
    return Map.of(LAST_FINITE, promise.lastFinite().time(), checkpoint, promise.frontier().time());
  }
}
