package dev.tidemark.flink.source;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;

/**
 * Finds the files that paths name: files, folders (with the folders in them) and globs, in the
 * order given, and by name within a folder or glob. Names that begin with a dot or an underscore
 * are left out, as other tools write those beside their data.
 */
final class InputFiles {
  private InputFiles() {}

  /**
   * The files, each once.
   *
   * @throws IllegalArgumentException naming a path that isn't there or holds no file
   */
  static List<FileStatus> find(List<String> paths) {
    if (paths.isEmpty()) {
      throw new IllegalArgumentException("source.path is missing: name a file, folder or glob");
    }
    List<FileStatus> files = new ArrayList<>();
    Set<Path> seen = new LinkedHashSet<>();
    for (String text : paths) {
      for (FileStatus file : findOne(text)) {
        if (seen.add(file.getPath())) {
          files.add(file);
        }
      }
    }
    return files;
  }

  private static List<FileStatus> findOne(String text) {
    List<FileStatus> found = new ArrayList<>();
    try {
      if (isGlob(text)) {
        Path root = new Path(text.substring(0, text.lastIndexOf('/', firstWildcard(text)) + 1));
        FileSystem files = root.getFileSystem();
        PathMatcher glob =
            FileSystems.getDefault()
                .getPathMatcher("glob:" + new Path(text).makeQualified(files).getPath());
        if (files.exists(root)) {
          collect(files, root, found);
          found.removeIf(file -> !glob.matches(java.nio.file.Path.of(file.getPath().getPath())));
        }
      } else {
        Path path = new Path(text);
        FileSystem files = path.getFileSystem();
        if (!files.exists(path)) {
          throw new IllegalArgumentException(
              "source.path: " + text + " does not exist; name a file, folder or glob");
        }
        FileStatus status = files.getFileStatus(path);
        if (status.isDir()) {
          collect(files, path, found);
        } else {
          found.add(status);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("source.path: cannot look into " + text, e);
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException(
          "source.path: " + text + " holds no file; name a file, folder or glob");
    }
    found.sort(Comparator.comparing(file -> file.getPath().toString()));
    return found;
  }

  private static boolean isGlob(String text) {
    return firstWildcard(text) < text.length();
  }

  private static int firstWildcard(String text) {
    int i = 0;
    while (i < text.length() && "*?[{".indexOf(text.charAt(i)) < 0) {
      i++;
    }
    return i;
  }

  private static void collect(FileSystem files, Path folder, List<FileStatus> found)
      throws IOException {
    FileStatus[] entries = files.listStatus(folder);
    if (entries == null) {
      return;
    }
    for (FileStatus entry : entries) {
      String name = entry.getPath().getName();
      if (name.startsWith(".") || name.startsWith("_")) {
        continue;
      }
      if (entry.isDir()) {
        collect(files, entry.getPath(), found);
      } else {
        found.add(entry);
      }
    }
  }
}
