package dev.tidemark.job;

import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.StopForGoodException;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * What a job starts from.
 *
 * @param path a checkpoint or savepoint; empty: from nothing
 * @param ours whether it was found as the newest of this writer: then Flink owns it from then on,
 *     and deletes it when the next is complete, since the shards are ahead of it by then
 */
public record StartPoint(Optional<String> path, boolean ours) {
  private static final String LATEST = "latest";
  private static final String NONE = "none";

  /** Finds it, and leaves everything as it is. */
  public static StartPoint peek(JobOptions options) throws IOException {
    return find(options, false);
  }

  /**
   * Finds it, as {@code restore} says, and tidies away what it supersedes.
   *
   * @throws OptionException when a path that the user gave holds nothing complete
   */
  public static StartPoint find(JobOptions options) throws IOException {
    return find(options, true);
  }

  private static StartPoint find(JobOptions options, boolean tidy) throws IOException {
    String restore = options.checkpoints().restore();
    if (restore.equals(NONE)) {
      return new StartPoint(Optional.empty(), false);
    }
    if (!restore.equals(LATEST)) {
      String path = JobOptionsReader.folder(restore);
      Path metadata = new Path(path, "_metadata");
      FileSystem files = metadata.getFileSystem();
      if (!path.endsWith("_metadata") && !files.exists(metadata)) {
        throw new OptionException(
            "restore = "
                + restore
                + ": no complete checkpoint or savepoint there (it has no _metadata); take latest, none or another path");
      }
      return new StartPoint(Optional.of(path), false);
    }
    Optional<LatestCheckpoint.Found> newest = LatestCheckpoint.find(options.writerDirectory());
    if (tidy && newest.isPresent()) {
      LatestCheckpoint.sweep(options.writerDirectory(), newest.get());
    }
    return new StartPoint(newest.map(LatestCheckpoint.Found::path), newest.isPresent());
  }

  /**
   * Without state a job writes a shard that has data only as {@code start} allows.
   *
   * @throws OptionException naming the shard and the mend
   */
  public void check(JobOptions options) throws IOException {
    if (path.isPresent()) {
      return;
    }
    try {
      ShardStart.check(options.shards(), options.store(), options.sink().start());
    } catch (StopForGoodException e) {
      throw new OptionException(String.valueOf(e.getMessage()));
    }
  }

  /** Tells Flink. */
  public void apply(Configuration conf) {
    path.ifPresent(
        from -> {
          conf.set(StateRecoveryOptions.SAVEPOINT_PATH, from);
          conf.set(
              StateRecoveryOptions.RESTORE_MODE,
              ours ? RecoveryClaimMode.CLAIM : RecoveryClaimMode.NO_CLAIM);
        });
  }
}
