package dev.tidemark.job;

import dev.tidemark.flink.ShardStart;
import dev.tidemark.flink.StopForGoodException;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;

/**
 * What a job starts from.
 *
 * @param path a checkpoint or savepoint; empty: from nothing
 * @param ours whether it was found as the newest of this writer: then Flink owns it from then on,
 *     and deletes it when the next is complete, since the shards are ahead of it by then
 */
public record StartPoint(Optional<String> path, boolean ours) {
  static final String LATEST = "latest";
  static final String NONE = "none";
  private static final String S3 = "s3://";

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
      if (!path.endsWith(LatestCheckpoint.METADATA) && !isComplete(path, options)) {
        throw new OptionException(
            "restore = "
                + restore
                + ": no complete checkpoint or savepoint there (it has no _metadata); take latest, none or another path");
      }
      return new StartPoint(Optional.of(path), false);
    }
    String directory = options.writerDirectory();
    if (directory.startsWith(S3)) {
      return new StartPoint(StoredCheckpoints.newest(directory, options.store(), tidy));
    }
    try {
      Optional<LatestCheckpoint.Found> newest = LatestCheckpoint.find(directory);
      if (tidy && newest.isPresent()) {
        LatestCheckpoint.sweep(directory, newest.get());
      }
      return new StartPoint(newest.map(LatestCheckpoint.Found::path));
    } catch (UnsupportedFileSystemSchemeException e) {
      throw new OptionException(
          "checkpoint.dir = "
              + options.checkpoints().directory()
              + ": whether a checkpoint lies there can't be told from here; set restore to a"
              + " checkpoint's path, or to none");
    }
  }

  /** The newest of the writer's own. */
  private StartPoint(Optional<String> newest) {
    this(newest, newest.isPresent());
  }

  /** Whether a checkpoint lies there; where that can't be told from here, Flink will find out. */
  private static boolean isComplete(String path, JobOptions options) throws IOException {
    if (path.startsWith(S3)) {
      return StoredCheckpoints.isComplete(path, options.store());
    }
    Path metadata = new Path(path, LatestCheckpoint.METADATA);
    try {
      return metadata.getFileSystem().exists(metadata);
    } catch (UnsupportedFileSystemSchemeException e) {
      return true;
    }
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
