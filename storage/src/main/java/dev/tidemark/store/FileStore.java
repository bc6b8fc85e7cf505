package dev.tidemark.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A store in a folder; an object's path is its key. A write goes to a hidden temporary file beside
 * its target, is forced to disk, and gets its name by one atomic step: a hard link where the name
 * must be new, a rename otherwise. Then the folder is forced too. A killed process may leave its
 * temporary file ({@code .tidemark-tmp-*}), which no listing shows and anybody may delete.
 *
 * <p>Folders that a deletion leaves empty go with it; a writer that meets such a deletion makes the
 * folder again.
 */
final class FileStore implements ObjectStore {
  /** Times a writer makes its folder again because a deletion took it. */
  private static final int FOLDER_TRIES = 100;

  /** The step that gives a temporary file its name. */
  private interface Naming {
    void name(Path temporary, Path target) throws IOException;
  }

  private final Path root;
  private final RequestCounts requests = new RequestCounts();

  FileStore(Path root) {
    this.root = root.toAbsolutePath().normalize();
  }

  @Override
  public Created putIfAbsent(String key, byte[] body) throws StoreException {
    requests.put(body.length);
    try {
      write(key, Body.of(body), (temporary, target) -> Files.createLink(target, temporary));
      return Created.YES;
    } catch (FileAlreadyExistsException e) {
      return Created.EXISTS;
    } catch (UnsupportedOperationException e) {
      throw new StoreException(
          StoreException.Reason.UNSUPPORTED,
          false,
          "the file system below " + root + " has no hard links, which creating a key needs",
          e);
    } catch (IOException e) {
      throw failed("create", key, true, e);
    }
  }

  @Override
  public void put(String key, Body body) throws StoreException {
    requests.put(body.sizeBytes());
    try {
      write(
          key,
          body,
          (temporary, target) ->
              Files.move(
                  temporary,
                  target,
                  StandardCopyOption.ATOMIC_MOVE,
                  StandardCopyOption.REPLACE_EXISTING));
    } catch (IOException e) {
      throw failed("write", key, true, e);
    }
  }

  private void write(String key, Body body, Naming naming) throws IOException {
    Path target = path(key);
    Path folder = FileTree.parent(target);
    for (int tries = 1; ; tries++) {
      Path temporary = folder.resolve(Keys.HIDDEN + UUID.randomUUID());
      try {
        FileTree.createFolders(folder);
        writeForced(temporary, body);
        naming.name(temporary, target);
        FileTree.force(folder);
        return;
      } catch (NoSuchFileException e) {
        if (tries == FOLDER_TRIES) {
          throw e;
        }
      } finally {
        Files.deleteIfExists(temporary);
      }
    }
  }

  private static void writeForced(Path file, Body body) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (byte[] segment : body.segments()) {
        ByteBuffer buffer = ByteBuffer.wrap(segment);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
      channel.force(true);
    }
  }

  @Override
  public Optional<byte[]> get(String key) throws StoreException {
    try {
      byte[] bytes = Files.readAllBytes(path(key));
      requests.get(bytes.length);
      return Optional.of(bytes);
    } catch (IOException e) {
      requests.get(0);
      return missing(key, e);
    }
  }

  @Override
  public Optional<byte[]> getRange(String key, long offset, int length) throws StoreException {
    Ranges.check(offset, length);
    requests.get(length);
    try (FileChannel channel = FileChannel.open(path(key), StandardOpenOption.READ)) {
      if (channel.size() < offset + length) {
        throw Ranges.tooShort(path(key).toString(), channel.size(), offset, length);
      }
      ByteBuffer buffer = ByteBuffer.allocate(length);
      while (buffer.hasRemaining()) {
        if (channel.read(buffer, offset + buffer.position()) < 0) {
          throw Ranges.tooShort(path(key).toString(), channel.size(), offset, length);
        }
      }
      return Optional.of(buffer.array());
    } catch (StoreException e) {
      throw e;
    } catch (IOException e) {
      return missing(key, e);
    }
  }

  private Optional<byte[]> missing(String key, IOException e) throws StoreException {
    Path path = path(key);
    // A folder of that name, or a file where the key has a folder: no object either way.
    if (e instanceof NoSuchFileException || Files.isDirectory(path) || !Files.exists(path)) {
      if (!(e instanceof AccessDeniedException)) {
        return Optional.empty();
      }
    }
    throw failed("read", key, false, e);
  }

  @Override
  public List<ObjectInfo> list(String prefix, String startAfter, int limit) throws StoreException {
    requests.list();
    try {
      return FileTree.list(root, Keys.checkPrefix(prefix), startAfter, limit);
    } catch (IOException e) {
      throw failed("list", prefix, false, e);
    }
  }

  @Override
  public List<String> listFolders(String prefix) throws StoreException {
    requests.list();
    try {
      return FileTree.folders(root, Keys.checkFolder(prefix));
    } catch (IOException e) {
      throw failed("list", prefix, false, e);
    }
  }

  @Override
  public void delete(List<String> keys) throws StoreException {
    if (!keys.isEmpty()) {
      requests.delete();
    }
    Set<Path> folders = new HashSet<>();
    for (String key : keys) {
      Path path = path(key);
      try {
        if (!Files.isDirectory(path) && Files.deleteIfExists(path)) {
          folders.add(FileTree.parent(path));
        }
      } catch (IOException e) {
        throw failed("delete", key, true, e);
      }
    }
    for (Path folder : folders) {
      deleteEmpty(folder);
    }
  }

  private void deleteEmpty(Path folder) throws StoreException {
    Path empty = folder;
    try {
      while (!empty.equals(root) && empty.startsWith(root)) {
        Files.delete(empty);
        empty = FileTree.parent(empty);
      }
    } catch (DirectoryNotEmptyException | NoSuchFileException e) {
      // Somebody writes here or deletes too; both are their business.
    } catch (IOException e) {
      throw failed("delete", empty.toString(), true, e);
    }
    try {
      FileTree.force(empty);
    } catch (NoSuchFileException e) {
      // Gone by another's deletion.
    } catch (IOException e) {
      throw failed("delete", empty.toString(), true, e);
    }
  }

  private Path path(String key) {
    Path path = root.resolve(Keys.check(key)).normalize();
    if (!path.startsWith(root) || path.equals(root)) {
      throw new IllegalArgumentException("the key leaves its store: " + key);
    }
    return path;
  }

  private StoreException failed(String verb, String key, boolean write, IOException e) {
    String message = "cannot " + verb + " " + key + " in " + location() + ": " + e;
    if (e instanceof AccessDeniedException) {
      return new StoreException(
          StoreException.Reason.DENIED, false, message + "; check the folder's owner and mode", e);
    }
    return new StoreException(StoreException.Reason.OTHER, write, message, e);
  }

  @Override
  public ObjectStore under(String prefix) {
    return ScopedStore.view(this, prefix);
  }

  @Override
  public String location() {
    return "file://" + root;
  }

  @Override
  public RequestCounts requests() {
    return requests;
  }

  @Override
  public void close() {}

  @Override
  public String toString() {
    return location();
  }
}
