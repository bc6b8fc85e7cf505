package dev.tidemark.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** Folders as a key space: what is below them, and making and forcing them. */
final class FileTree {
  private FileTree() {}

  static Path parent(Path path) {
    return Objects.requireNonNull(path.getParent());
  }

  /** Makes a folder and those above it, forcing each folder that gets a new entry. */
  static void createFolders(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    Path above = folder.getParent();
    if (above == null) {
      throw new NotDirectoryException(folder.toString());
    }
    createFolders(above);
    try {
      Files.createDirectory(folder);
      force(above);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder) && Files.exists(folder)) {
        throw new NotDirectoryException(folder.toString());
      }
    }
  }

  /** Makes the folder's entries survive a crash of the machine. */
  static void force(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** The objects below a prefix, in key order. */
  static List<ObjectInfo> list(Path root, String prefix, String startAfter, int limit)
      throws IOException {
    List<ObjectInfo> found = new ArrayList<>();
    String folder = prefix.substring(0, prefix.lastIndexOf('/') + 1);
    collect(root.resolve(folder), folder, prefix, startAfter, found);
    found.sort(Comparator.comparing(ObjectInfo::key, Keys.ORDER));
    return List.copyOf(found.subList(0, Math.min(limit, found.size())));
  }

  private static void collect(
      Path folder, String folderKey, String prefix, String startAfter, List<ObjectInfo> found)
      throws IOException {
    for (Path path : entries(folder)) {
      String key = folderKey + path.getFileName();
      BasicFileAttributes attributes;
      try {
        attributes = Files.readAttributes(path, BasicFileAttributes.class);
      } catch (NoSuchFileException e) {
        continue;
      }
      if (attributes.isDirectory()) {
        String below = key + "/";
        boolean matches = below.startsWith(prefix) || prefix.startsWith(below);
        boolean passed = Keys.ORDER.compare(below, startAfter) < 0 && !startAfter.startsWith(below);
        if (matches && !passed) {
          collect(path, below, prefix, startAfter, found);
        }
      } else if (key.startsWith(prefix) && Keys.ORDER.compare(key, startAfter) > 0) {
        found.add(
            new ObjectInfo(key, attributes.size(), attributes.lastModifiedTime().toInstant()));
      }
    }
  }

  /** The folders directly below a prefix that hold an object at any depth, as "name/". */
  static List<String> folders(Path root, String prefix) throws IOException {
    List<String> names = new ArrayList<>();
    for (Path path : entries(root.resolve(prefix))) {
      if (Files.isDirectory(path) && holdsObject(path)) {
        names.add(path.getFileName() + "/");
      }
    }
    names.sort(Keys.ORDER);
    return List.copyOf(names);
  }

  private static boolean holdsObject(Path folder) throws IOException {
    for (Path path : entries(folder)) {
      if (!Files.isDirectory(path) || holdsObject(path)) {
        return true;
      }
    }
    return false;
  }

  private static List<Path> entries(Path folder) throws IOException {
    List<Path> paths = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
      for (Path path : stream) {
        if (!path.getFileName().toString().startsWith(Keys.HIDDEN)) {
          paths.add(path);
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
    return paths;
  }
}
