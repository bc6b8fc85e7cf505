package dev.tidemark.flink.write;

import dev.tidemark.row.MergeCursor;
import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sorted runs of updates, cut into {@link HeldChunks}, that are neither in a buffer nor in keyed
 * state: in memory while they are few, else in a file of the task's own. In memory stays where each
 * chunk lies. Used by one thread at a time.
 */
final class Runs implements AutoCloseable {
  /** What stays in memory. */
  private static final int MEMORY_BYTES = 1 << 20;

  /** Runs that are read side by side: a chunk of each is in memory, compressed and not. */
  static final int SIDE_BY_SIDE = 64;

  private final SpillFolder folder;
  private final Map<Long, TreeMap<Integer, Place>> runs = new LinkedHashMap<>();
  private long minTime = Long.MAX_VALUE;
  private long memoryBytes;
  private long fileBytes;
  private @Nullable Path file;
  private @Nullable FileChannel channel;

  /** Where a chunk lies: in memory, or in the file from an offset on. */
  @SuppressWarnings("ArrayRecordComponent") // compared by nobody
  private record Place(byte @Nullable [] chunk, long offset, int length) {}

  /** Where chunks go. */
  @FunctionalInterface
  interface Sink {
    void add(ChunkKey key, byte[] chunk) throws Exception;
  }

  /** None yet. */
  Runs(SpillFolder folder) {
    this.folder = folder;
  }

  boolean isEmpty() {
    return runs.isEmpty();
  }

  /** The least time in them. */
  long minTime() {
    return minTime;
  }

  /** What they take, compressed. */
  long bytes() {
    return memoryBytes + fileBytes;
  }

  /** A number for a new run. */
  static long newRun() {
    return ThreadLocalRandom.current().nextLong();
  }

  /** Adds what is left of a sorted cursor as a run; gives its number. */
  long add(UpdateCursor sorted) throws IOException {
    long run = newRun();
    int number = 0;
    HeldChunks.Cutter cutter = new HeldChunks.Cutter(sorted);
    for (byte[] chunk = cutter.next(); chunk != null; chunk = cutter.next()) {
      add(new ChunkKey(run, number++), chunk);
    }
    return run;
  }

  /** Adds a chunk; those of a run may come in any order, and some may be missing. */
  void add(ChunkKey key, byte[] chunk) throws IOException {
    minTime = Math.min(minTime, HeldChunks.minTime(chunk));
    Place place;
    if (memoryBytes + chunk.length <= MEMORY_BYTES) {
      memoryBytes += chunk.length;
      place = new Place(chunk, 0, chunk.length);
    } else {
      place = new Place(null, fileBytes, chunk.length);
      append(chunk);
    }
    runs.computeIfAbsent(key.run(), first -> new TreeMap<>()).put(key.number(), place);
  }

  private void append(byte[] chunk) throws IOException {
    try {
      FileChannel open = channel;
      if (open == null) {
        file = folder.newFile();
        open =
            FileChannel.open(
                file,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        channel = open;
      }
      ByteBuffer bytes = ByteBuffer.wrap(chunk);
      while (bytes.hasRemaining()) {
        open.write(bytes, fileBytes + bytes.position());
      }
    } catch (IOException e) {
      throw folder.failed(e);
    }
    fileBytes += chunk.length;
    folder.count(chunk.length);
  }

  private byte[] read(Place place) throws IOException {
    byte[] kept = place.chunk();
    if (kept != null) {
      return kept;
    }
    FileChannel open = channel;
    if (open == null) {
      throw new IOException("rows on disk were given up already");
    }
    ByteBuffer bytes = ByteBuffer.allocate(place.length());
    while (bytes.hasRemaining()) {
      if (open.read(bytes, place.offset() + bytes.position()) < 0) {
        throw new IOException("rows on disk are cut off: " + file);
      }
    }
    return bytes.array();
  }

  /** Takes over all that others hold. */
  void addAll(Runs others) throws Exception {
    others.forEach(this::add);
  }

  /** Hands out all chunks. */
  void forEach(Sink sink) throws Exception {
    for (Map.Entry<Long, TreeMap<Integer, Place>> run : runs.entrySet()) {
      for (Map.Entry<Integer, Place> chunk : run.getValue().entrySet()) {
        sink.add(new ChunkKey(run.getKey(), chunk.getKey()), read(chunk.getValue()));
      }
    }
  }

  /**
   * Their updates by run. Of too many to be read side by side some are merged into one first, which
   * is added to these.
   */
  List<UpdateCursor> cursors() throws IOException {
    Deque<Long> left = new ArrayDeque<>(runs.keySet());
    while (left.size() > SIDE_BY_SIDE) {
      List<UpdateCursor> some = new ArrayList<>();
      for (int i = 0; i < SIDE_BY_SIDE; i++) {
        some.add(cursor(left.removeFirst()));
      }
      try (UpdateCursor merged = new MergeCursor(some, Long.MIN_VALUE)) {
        long run = add(merged);
        if (runs.containsKey(run)) { // else its updates cancelled each other
          left.addLast(run);
        }
      }
    }
    List<UpdateCursor> cursors = new ArrayList<>();
    for (long run : left) {
      cursors.add(cursor(run));
    }
    return cursors;
  }

  private UpdateCursor cursor(long run) {
    List<Place> places = List.copyOf(runs.getOrDefault(run, new TreeMap<>()).values());
    return new HeldChunks.Run(places.size(), number -> read(places.get(number)));
  }

  /** Gives them up. */
  @Override
  public void close() throws IOException {
    runs.clear();
    FileChannel open = channel;
    channel = null;
    if (open != null) {
      open.close();
      folder.count(-fileBytes);
    }
    if (file != null) {
      Files.deleteIfExists(file);
    }
  }
}
