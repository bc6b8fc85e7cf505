package dev.tidemark.flink.source;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
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
    checkNamed(paths);
    List<FileStatus> files = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    for (String text : paths) {
      List<FileStatus> found;
      try {
        found = findOne(text);
      } catch (FileNotFoundException e) {
        throw missing(text);
      } catch (IOException e) {
        throw new UncheckedIOException("source.path: cannot look into " + text, e);
      }
      if (found.isEmpty()) {
        throw new IllegalArgumentException(
            "source.path: " + text + " holds no file; name a file, folder or glob");
      }
      addNew(found, seen, files);
    }
    return files;
  }

  /**
   * The files that are there now, each once; there may be none.
   *
   * @throws FileNotFoundException for a path that isn't there, or a file that went meanwhile
   */
  static List<FileStatus> look(List<String> paths) throws IOException {
    List<FileStatus> files = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    for (String text : paths) {
      addNew(findOne(text), seen, files);
    }
    return files;
  }

  /**
   * Refuses to watch what isn't there.
   *
   * @throws IllegalArgumentException naming it and the mend
   */
  static void checkWatched(List<String> paths) {
    checkNamed(paths);
    for (String text : paths) {
      Path path = isGlob(text) ? globRoot(text) : new Path(text);
      try {
        if (!path.getFileSystem().exists(path)) {
          throw missing(path.toString());
        }
      } catch (IOException e) {
        throw new UncheckedIOException("source.path: cannot look into " + text, e);
      }
    }
  }

  private static void checkNamed(List<String> paths) {
    if (paths.isEmpty()) {
      throw new IllegalArgumentException("source.path is missing: name a file, folder or glob");
    }
  }

  private static IllegalArgumentException missing(String text) {
    return new IllegalArgumentException(
        "source.path: " + text + " does not exist; name a file, folder or glob");
  }

  private static void addNew(List<FileStatus> found, Set<Path> seen, List<FileStatus> files) {
    for (FileStatus file : found) {
      if (seen.add(file.getPath())) {
        files.add(file);
      }
    }
  }

  private static List<FileStatus> findOne(String text) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    if (isGlob(text)) {
      Path root = globRoot(text);
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
      FileStatus status = files.getFileStatus(path);
      if (status.isDir()) {
        collect(files, path, found);
      } else {
        found.add(status);
      }
    }
    found.sort(Comparator.comparing(file -> file.getPath().toString()));
    return found;
  }

  private static Path globRoot(String text) {
    String folder = text.substring(0, text.lastIndexOf('/', firstWildcard(text)) + 1);
    return new Path(folder.isEmpty() ? "." : folder);
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
