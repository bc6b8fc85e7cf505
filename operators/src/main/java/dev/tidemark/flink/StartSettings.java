package dev.tidemark.flink;

import dev.tidemark.store.StoreSettings;
import java.io.Serializable;

/**
 * How the input side of a job starts without Flink state.
 *
 * @param mode what it does with a shard that has data
 * @param store how to reach the store, to learn how far a shard has come
 */
public record StartSettings(StartMode mode, StoreSettings store) implements Serializable {
  /** For jobs whose shards are new. */
  public static final StartSettings REFUSE =
      new StartSettings(StartMode.REFUSE, StoreSettings.DEFAULT);
}
