package dev.tidemark.flink.append;

import dev.tidemark.time.Frontier;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * With commit = checkpoint: a batch may be appended once a checkpoint that holds it is complete, up
 * to what stood promised at the barrier of that checkpoint.
 */
final class CheckpointCoverage implements Coverage {
  /** What stood promised at the barrier of each checkpoint that isn't known to be complete. */
  private final TreeMap<Long, Promise> promised = new TreeMap<>();

  private Promise promise;
  private Promise covered;
  private long coveredTag = Long.MIN_VALUE;

  /** What a restored state was promised is covered. */
  CheckpointCoverage(Promise restored) {
    promise = restored;
    covered = restored;
  }

  @Override
  public void promise(Frontier frontier) {
    promise = promise.advance(frontier);
  }

  @Override
  public void barrier(long checkpoint) {
    promised.put(checkpoint, promise);
  }

  @Override
  public void completed(long checkpoint) {
    Map.Entry<Long, Promise> newest = promised.floorEntry(checkpoint);
    if (newest != null) {
      covered = newest.getValue();
      coveredTag = Math.max(coveredTag, newest.getKey());
      promised.headMap(checkpoint, true).clear();
    }
  }

  @Override
  public Promise covered() {
    return covered;
  }

  @Override
  public boolean covers(long tag, Frontier upper) {
    return tag <= coveredTag;
  }

  @Override
  public boolean isGated() {
    return false;
  }

  @Override
  public Map<Long, Long> state() {
    Map<Long, Long> state = new HashMap<>();
    state.put(LAST_FINITE, promise.lastFinite().time());
    promised.forEach((checkpoint, at) -> state.put(checkpoint, at.frontier().time()));
    return state;
  }
}
