package dev.tidemark.job;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Finds what a writer can go on from: in its folder lie {@code JOB/chk-N}, one job a start, and
 * {@code savepoints/NAME}. Complete is what has its {@code _metadata}, which Flink writes last.
 *
 * <p>The newest is never behind the shards: rows are committed only after the checkpoint that holds
 * them is complete, and Flink gives one up only once the next is. Older ones are of no more use.
 */
public final class LatestCheckpoint {
  static final String SAVEPOINTS = "savepoints";

  static final String METADATA = "_metadata";
  static final String CHECKPOINT = "chk-";

  /**
   * A complete checkpoint or savepoint.
   *
   * @param path what Flink restores from
   * @param writtenMillis when it was complete
   * @param number its number; -1 for a savepoint
   */
  public record Found(String path, long writtenMillis, long number) {
    boolean isSavepoint() {
      return number < 0;
    }
  }

  private LatestCheckpoint() {}

  /** The newest complete checkpoint or savepoint below a writer's folder. */
  public static Optional<Found> find(String writerDirectory) throws IOException {
    return all(writerDirectory).stream().max(age());
  }

  /**
   * Deletes the checkpoints that are older than {@code newest}: those that a kill left between two.
   * Once the job has ended and Flink has cleaned up, one of them would look like the newest.
   */
  public static void sweep(String writerDirectory, Found newest) throws IOException {
    FileSystem files = new Path(writerDirectory).getFileSystem();
    for (Found old : all(writerDirectory)) {
      if (!old.isSavepoint() && age().compare(old, newest) < 0) {
        files.delete(new Path(old.path()), true);
      }
    }
  }

  /** The older first. */
  static Comparator<Found> age() {
    return Comparator.comparingLong(Found::writtenMillis).thenComparingLong(Found::number);
  }

  private static List<Found> all(String writerDirectory) throws IOException {
    Path folder = new Path(writerDirectory);
    FileSystem files = folder.getFileSystem();
    List<Found> found = new ArrayList<>();
    for (FileStatus job : list(files, folder)) {
      boolean savepoints = job.getPath().getName().equals(SAVEPOINTS);
      for (FileStatus entry : job.isDir() ? list(files, job.getPath()) : new FileStatus[0]) {
        String name = entry.getPath().getName();
        Path metadata = new Path(entry.getPath(), METADATA);
        if (!entry.isDir()
            || (!savepoints && !name.matches(CHECKPOINT + "\\d+"))
            || !files.exists(metadata)) {
          continue;
        }
        long number = savepoints ? -1 : Long.parseLong(name.substring(CHECKPOINT.length()));
        found.add(
            new Found(
                entry.getPath().toString(),
                files.getFileStatus(metadata).getModificationTime(),
                number));
      }
    }
    return found;
  }

  private static FileStatus[] list(FileSystem files, Path folder) throws IOException {
    try {
      FileStatus[] listed = files.listStatus(folder);
      return listed == null ? new FileStatus[0] : listed;
    } catch (FileNotFoundException e) {
      return new FileStatus[0];
    }
  }
}
