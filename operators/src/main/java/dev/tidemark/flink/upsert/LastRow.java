package dev.tidemark.flink.upsert;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What is kept of a key: its last time, and its row, null when it is deleted. In state: the time, 8
 * bytes, and behind it the row; an encoded row has at least its key's bytes.
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record LastRow(long time, byte @Nullable [] row) {
  private static final byte[] DELETED = new byte[0];

  static LastRow of(byte[] entry) {
    byte[] row =
        entry.length == Long.BYTES ? null : Arrays.copyOfRange(entry, Long.BYTES, entry.length);
    return new LastRow(ByteBuffer.wrap(entry).getLong(), row);
  }

  byte[] entry() {
    byte[] kept = row == null ? DELETED : row;
    return ByteBuffer.allocate(Long.BYTES + kept.length).putLong(time).put(kept).array();
  }
}
