package dev.tidemark.bench;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Updates of uniformly chosen keys, the same for the same seed: commit {@code i} takes each of its
 * keys from one version to the next, at time {@code i}.
 */
final class KeyUpdates {
  /** A key that is new, and has no version to take back. */
  static final int NONE = -1;

  private final int keys;
  private final int perCommit;
  private final int[] versions;
  private final SplittableRandom random = new SplittableRandom(1);

  KeyUpdates(int keys, int perCommit) {
    this.keys = keys;
    this.perCommit = perCommit;
    this.versions = new int[keys];
    Arrays.fill(versions, NONE);
  }

  /** A commit's updates, by key. */
  static final class Commit {
    private final int[] keys;
    private final int[] before;

    private Commit(int[] keys, int[] before) {
      this.keys = keys;
      this.before = before;
    }

    int size() {
      return keys.length;
    }

    /** Where the first key is that is at or after this one. */
    int firstAt(int key) {
      int at = Arrays.binarySearch(keys, key);
      return at < 0 ? -at - 1 : at;
    }

    int key(int i) {
      return keys[i];
    }

    /** The version that is taken back; {@link #NONE} where the key is new. */
    int before(int i) {
      return before[i];
    }
  }

  /** The next commit; a key that is drawn twice is updated once. */
  Commit next() {
    int[] drawn = random.ints(perCommit, 0, keys).sorted().distinct().toArray();
    int[] before = new int[drawn.length];
    for (int i = 0; i < drawn.length; i++) {
      before[i] = versions[drawn[i]]++;
    }
    return new Commit(drawn, before);
  }

  int keys() {
    return keys;
  }

  /** How many keys have a version by now. */
  long live() {
    return Arrays.stream(versions).filter(version -> version != NONE).count();
  }
}
