package dev.tidemark.shard;

/**
 * The number of a version of a shard. 0 is the shard before its first version.
 *
 * @param value the number, not negative
 */
public record SeqNo(long value) implements Comparable<SeqNo> {
  /** Before the first version. */
  public static final SeqNo ZERO = new SeqNo(0);

  /** Checks the range. */
  public SeqNo {
    if (value < 0) {
      throw new IllegalArgumentException("negative seqno " + value);
    }
  }

  /** The version after this one. */
  public SeqNo next() {
    return new SeqNo(value + 1);
  }

  @Override
  public int compareTo(SeqNo other) {
    return Long.compare(value, other.value);
  }

  @Override
  public String toString() {
    return Long.toString(value);
  }
}
