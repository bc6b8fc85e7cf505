package dev.tidemark.job;

import dev.tidemark.flink.ShardTarget;
import dev.tidemark.flink.SinkSettings;
import dev.tidemark.flink.decode.DecodeSettings;
import dev.tidemark.flink.source.SourceSettings;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Everything a job needs to know, checked as far as can be without reaching anything.
 *
 * @param name the job's name in Flink
 * @param warehouse where the shards lie
 * @param shards what is written
 * @param source where rows come from
 * @param decode how they are read
 * @param watermarks how event time follows them
 * @param sink how shards are written; holds the writer's id and the store
 * @param parallelism subtasks of source and write
 * @param checkpoints when and where
 * @param settle whether wanted merges are finished once the job has ended by itself
 * @param seal whether the shards are sealed once the job has ended by itself
 * @param uiPort the first port to try for the embedded web UI; 0: any
 * @param flink Flink's own settings, passed on as they are
 */
public record JobOptions(
    String name,
    String warehouse,
    List<ShardTarget> shards,
    SourceSettings source,
    DecodeSettings decode,
    SourceSettings.Watermarks watermarks,
    SinkSettings sink,
    int parallelism,
    Checkpoints checkpoints,
    boolean settle,
    boolean seal,
    int uiPort,
    SortedMap<String, String> flink)
    implements JobFrame {
  /** Copies the list. */
  public JobOptions {
    shards = List.copyOf(shards);
  }

  /**
   * When and where the job is checkpointed, and what it starts from.
   *
   * @param interval between two checkpoints; null: there are none
   * @param timeout after which one is given up
   * @param directory where they lie, without the writer's id
   * @param restore {@code latest}, {@code none} or a path
   */
  public record Checkpoints(
      @Nullable Duration interval, Duration timeout, String directory, String restore) {}

  /**
   * Works the options out.
   *
   * @throws OptionException naming the key and the mend
   */
  public static JobOptions of(Options options) {
    return new JobOptionsReader(options).read();
  }
}
