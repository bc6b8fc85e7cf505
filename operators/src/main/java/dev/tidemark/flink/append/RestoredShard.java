package dev.tidemark.flink.append;

import dev.tidemark.flink.ShardHandle;
import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.StopForGoodException;
import dev.tidemark.log.Author;
import dev.tidemark.shard.ShardState;
import dev.tidemark.time.Frontier;
import org.jspecify.annotations.Nullable;

/** What must be so between a restored job and a shard before the job goes on writing it. */
final class RestoredShard {
  private RestoredShard() {}

  /**
   * Checks, before a shard is made where there is none, that the job knows of none there.
   *
   * @throws StopForGoodException naming the shard that is gone and the mend
   */
  static void checkThere(
      ShardHandle handle, Author by, ShardState state, @Nullable SeenShard seen) {
    if (seen != null && !state.exists()) {
      throw new StopForGoodException(
          "at "
              + handle.target().url()
              + " there is no shard, but writer "
              + by.attempt().writer()
              + " has written shard "
              + seen.shard()
              + " up to "
              + seen.upper()
              + " there: bring it back, or start without state");
    }
  }

  /**
   * Checks a shard against what the job's state knows of it.
   *
   * @param promise the greatest frontier that the restored state was promised
   * @param start the shard's upper when a job that began without state first met it; else the
   *     minimum
   * @param seen what the job saw of the shard; null for a shard that is new to the job
   * @param policy how the job meets what others have done
   * @throws StopForGoodException naming the frontiers and the mend
   */
  static void check(
      ShardHandle handle,
      Author by,
      ShardState state,
      Promise promise,
      Frontier start,
      @Nullable SeenShard seen,
      AppendPolicy policy) {
    String url = handle.target().url();
    if (seen != null && !seen.shard().equals(state.shard())) {
      throw new StopForGoodException(
          "at "
              + url
              + " there is shard "
              + state.shard()
              + " with data up to "
              + state.upper()
              + ", but writer "
              + by.attempt().writer()
              + " has written shard "
              + seen.shard()
              + " up to "
              + seen.upper()
              + " there; "
              + ShardStart.writers(state)
              + ": bring that one back, or start without state on another shard");
    }
    if (seen != null && state.upper().isBefore(seen.upper())) {
      throw new StopForGoodException(
          "the log of shard "
              + url
              + " went back: its upper is "
              + state.upper()
              + ", writer "
              + by.attempt().writer()
              + " has seen "
              + seen.upper()
              + "; "
              + ShardStart.writers(state)
              + ": bring the lost versions back, or start without state on another shard");
    }
    Frontier upto = ShardAppend.upto(state, by);
    if (policy.cuts()) {
      checkOthers(handle, by, state, seen == null ? start : seen.upper().max(start), policy);
      return;
    }
    if (upto.isAfter(promise.frontier().max(start))) {
      throw new StopForGoodException(
          "shard "
              + url
              + " has what writer "
              + by.attempt().writer()
              + " appended up to "
              + upto
              + ", but the restored state reaches only to "
              + promise.frontier()
              + "; "
              + ShardStart.writers(state)
              + ": restore a newer checkpoint of this job; or, where its input can be read again in"
              + " order of time, begin without state (--restore none --start resume-by-time)");
    }
    if (state.upper().isAfter(upto.max(start))) {
      throw ShardAppend.foreign(
          handle,
          by,
          state,
          "the shard's upper is " + state.upper() + ", this writer appended up to " + upto,
          false);
    }
  }

  /** Where rows have their own times it is enough that nobody else goes on writing. */
  private static void checkOthers(
      ShardHandle handle, Author by, ShardState state, Frontier seen, AppendPolicy policy) {
    Frontier known = ShardAppend.upto(state, by).max(seen);
    boolean writes =
        !policy.readOnly() && !policy.lenient() && !OtherWriters.isHandedOver(state, by.attempt());
    boolean others = !OtherWriters.concurrent(state, by.attempt().writer(), known).isEmpty();
    if ((writes && others) || state.upper().isEnd()) {
      throw ShardAppend.foreign(
          handle,
          by,
          state,
          "the shard's upper is " + state.upper() + ", this writer knew of " + known,
          true);
    }
  }
}
