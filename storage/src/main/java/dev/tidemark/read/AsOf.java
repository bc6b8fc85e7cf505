package dev.tidemark.read;

import dev.tidemark.shard.ShardState;

/** Chooses the time at which a shard is read, from the state that its reader found. */
@FunctionalInterface
public interface AsOf {
  /** The last time that is durable. */
  AsOf LATEST =
      state -> {
        if (!state.since().isBefore(state.upper())) {
          throw new ReadRefusedException(
              "shard " + state.shard() + " has no time yet that can be read: wait");
        }
        return state.upper().isEnd() ? Long.MAX_VALUE - 1 : state.upper().time() - 1;
      };

  /** The first time that can be read exactly. */
  AsOf EARLIEST =
      state -> {
        LATEST.of(state);
        return state.since().time();
      };

  /** The time, in milliseconds. */
  long of(ShardState state) throws ReadRefusedException;

  /** That time, which may not be there yet. */
  static AsOf at(long timeMillis) {
    return state -> timeMillis;
  }
}
