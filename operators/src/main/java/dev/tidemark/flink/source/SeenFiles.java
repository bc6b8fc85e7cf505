package dev.tidemark.flink.source;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which files of watched folders have been taken, and which may be taken now. Decides only: what a
 * look found, and when, are arguments.
 *
 * <ol>
 *   <li>A file is taken once, when two looks in a row found it with the same length, not 0, and the
 *       same time of change. Renamed into place it is whole; this keeps most others from being
 *       taken too early.
 *   <li>A file that was taken and has another length now had been taken too early, or was written
 *       over: that is refused by name, since what was missed can't be known.
 *   <li>Of a file that was taken 16 bytes are remembered, its path hashed to 64 bits and its
 *       length, until it has been gone for a day. So memory follows the files that are there, not
 *       those that ever were.
 * </ol>
 */
final class SeenFiles {
  /** How long a name isn't forgotten after its file went: a listing may be short for a while. */
  static final long FORGET_MILLIS = 24 * 3_600_000L;

  private final Map<Long, Long> lengths = new HashMap<>();
  private Map<Long, Long> goneSince = new HashMap<>();
  private Map<Long, Found> waiting = new HashMap<>();
  private final MessageDigest digest;

  /** A file as a look found it. */
  record Found(String path, long length, long changedMillis) {}

  SeenFiles() {
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Takes over what is remembered: path hashes, each with a length behind it. */
  SeenFiles(long[] remembered) {
    this();
    for (int i = 0; i < remembered.length; i += 2) {
      lengths.put(remembered[i], remembered[i + 1]);
    }
  }

  /** What must be remembered: path hashes, each with a length behind it. */
  long[] remembered() {
    long[] all = new long[2 * lengths.size()];
    int i = 0;
    for (Map.Entry<Long, Long> entry : lengths.entrySet()) {
      all[i++] = entry.getKey();
      all[i++] = entry.getValue();
    }
    return all;
  }

  /**
   * Learns what one look found.
   *
   * @return the files to read now, in the order in which they were found
   * @throws IllegalStateException naming a file that has changed since it was taken
   */
  List<Found> look(List<Found> found, long nowMillis) {
    List<Found> taken = new ArrayList<>();
    Map<Long, Found> next = new HashMap<>();
    Set<Long> present = new HashSet<>();
    for (Found file : found) {
      long hash = hash(file.path());
      present.add(hash);
      Long length = lengths.get(hash);
      if (length != null) {
        if (length != file.length()) {
          throw new IllegalStateException(
              "source.path: "
                  + file.path()
                  + " was read when it had "
                  + length
                  + " bytes and has "
                  + file.length()
                  + " now: write files elsewhere and rename them into the watched folder when they"
                  + " are whole; take this one out, and give what is missing as a new file");
        }
      } else if (file.length() > 0 && file.equals(waiting.get(hash))) {
        lengths.put(hash, file.length());
        taken.add(file);
      } else {
        next.put(hash, file);
      }
    }
    waiting = next;
    forget(present, nowMillis);
    return taken;
  }

  private void forget(Set<Long> present, long nowMillis) {
    Map<Long, Long> gone = new HashMap<>();
    Iterator<Long> hashes = lengths.keySet().iterator();
    while (hashes.hasNext()) {
      Long hash = hashes.next();
      if (!present.contains(hash)) {
        long since = goneSince.getOrDefault(hash, nowMillis);
        if (nowMillis - since >= FORGET_MILLIS) {
          hashes.remove();
        } else {
          gone.put(hash, since);
        }
      }
    }
    goneSince = gone;
  }

  private long hash(String path) {
    byte[] bytes = digest.digest(path.getBytes(StandardCharsets.UTF_8));
    long hash = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      hash = hash << 8 | (bytes[i] & 0xFF);
    }
    return hash;
  }
}
