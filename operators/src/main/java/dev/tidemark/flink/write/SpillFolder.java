package dev.tidemark.flink.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one subtask for what doesn't fit in its memory: made when the first file is, in one
 * of Flink's temporary directories, and gone with the task. Thread-safe.
 */
final class SpillFolder implements AutoCloseable {
  private final Path parent;
  private final AtomicLong bytes = new AtomicLong();
  private @Nullable Path folder;
  private int files;

  /**
   * The folder of a subtask.
   *
   * @param temporary Flink's temporary directories (io.tmp.dirs), which the subtasks share evenly
   */
  SpillFolder(List<Path> temporary, int subtask) {
    this.parent = temporary.get(subtask % temporary.size());
  }

  /** A file that isn't there yet. */
  synchronized Path newFile() throws IOException {
    try {
      if (folder == null) {
        Files.createDirectories(parent);
        folder = Files.createTempDirectory(parent, "tidemark-write-");
      }
    } catch (IOException e) {
      throw failed(e);
    }
    files++;
    return folder.resolve(files + ".chunks");
  }

  /** Counts what lies in it. */
  void count(long written) {
    bytes.addAndGet(written);
  }

  /** What lies in it, in bytes. */
  long bytes() {
    return bytes.get();
  }

  /** What is said when its disk is full or broken. */
  IOException failed(IOException cause) {
    return new IOException(
        "write can't keep rows on disk in "
            + parent
            + ": "
            + (cause.getMessage() == null ? cause.toString() : cause.getMessage())
            + "; make room there, or let io.tmp.dirs name directories on a larger disk",
        cause);
  }

  @Override
  public synchronized void close() throws IOException {
    Path made = folder;
    folder = null;
    if (made != null) {
      try (Stream<Path> all = Files.list(made)) {
        for (Path file : all.toList()) {
          Files.deleteIfExists(file);
        }
      }
      Files.deleteIfExists(made);
    }
  }
}
