package dev.tidemark.job;

import dev.tidemark.flink.SinkSettings;
import dev.tidemark.store.StoreSettings;
import java.util.SortedMap;

/** What every job has, whatever it does. */
public interface JobFrame {
  /** The job's name in Flink. */
  String name();

  /** Where the shards lie. */
  String warehouse();

  /** How shards are written and merged; holds the writer's id and the store. */
  SinkSettings sink();

  /** Subtasks of all but write and merge. */
  int parallelism();

  /** When and where the job is checkpointed. */
  JobOptions.Checkpoints checkpoints();

  /** The first port to try for the embedded web UI; 0: any. */
  int uiPort();

  /** Flink's own settings, passed on as they are. */
  SortedMap<String, String> flink();

  /** The writer's id. */
  default String writer() {
    return sink().writer();
  }

  /** How to reach the store. */
  default StoreSettings store() {
    return sink().store();
  }

  /** Where this writer's checkpoints and savepoints lie. */
  default String writerDirectory() {
    return checkpoints().directory() + "/" + writer();
  }

  /** Where its savepoints lie, unless another place is named. */
  default String savepointDirectory() {
    return writerDirectory() + "/" + LatestCheckpoint.SAVEPOINTS;
  }
}
