package dev.tidemark.row;

import dev.tidemark.schema.Schema;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Updates in order, in the form of another schema, in order there. Where a column is gone, the rows
 * of a key are put in order anew: they are in memory together then, those of one run.
 */
public final class ChangedCursor implements UpdateCursor {
  private final UpdateCursor updates;
  private final RowChange change;
  private final boolean keepsOrder;
  private boolean ahead;
  private @Nullable UpdateCursor ofKey;
  private byte[] row = new byte[0];
  private int offset;
  private int length;
  private long time;
  private long diff;

  /** Of updates written in the one schema, as wanted in the other. */
  public ChangedCursor(UpdateCursor updates, Schema written, Schema wanted) {
    this.updates = updates;
    this.change = new RowChange(written, wanted);
    this.keepsOrder = RowChange.keepsOrder(written, wanted);
  }

  @Override
  public boolean next() throws IOException {
    if (keepsOrder) {
      if (!updates.next()) {
        return false;
      }
      take(changed(), updates.time(), updates.diff());
      return true;
    }
    while (true) {
      UpdateCursor from = ofKey;
      if (from != null && from.next()) {
        row = from.row();
        offset = from.rowOffset();
        length = from.rowLength();
        time = from.time();
        diff = from.diff();
        return true;
      }
      ofKey = null;
      if (!ahead && !updates.next()) {
        return false;
      }
      byte[] key = key();
      byte[] first = changed();
      long at = updates.time();
      long by = updates.diff();
      ahead = updates.next();
      if (!ahead || !Arrays.equals(key, key())) {
        take(first, at, by);
        return true;
      }
      ofKey = keysUpdates(key, first, at, by);
    }
  }

  /** All updates of a key, in order: the one that was taken and those that follow. */
  private UpdateCursor keysUpdates(byte[] key, byte[] first, long at, long by) throws IOException {
    RowBuffer buffer = new RowBuffer();
    buffer.add(first, 0, first.length, at, by);
    while (ahead && Arrays.equals(key, key())) {
      byte[] next = changed();
      buffer.add(next, 0, next.length, updates.time(), updates.diff());
      ahead = updates.next();
    }
    return buffer.sorted();
  }

  private byte[] key() {
    int begin = updates.rowOffset();
    int keyLength = change.keyLength(updates.row(), begin, updates.rowLength());
    return Arrays.copyOfRange(updates.row(), begin, begin + keyLength);
  }

  private byte[] changed() throws IOException {
    try {
      return change.apply(updates.row(), updates.rowOffset(), updates.rowLength());
    } catch (IllegalArgumentException | InvalidRowException e) {
      throw new IOException("a row can't be read in a newer schema: " + e.getMessage(), e);
    }
  }

  private void take(byte[] bytes, long at, long by) {
    row = bytes;
    offset = 0;
    length = bytes.length;
    time = at;
    diff = by;
  }

  @Override
  public byte[] row() {
    return row;
  }

  @Override
  public int rowOffset() {
    return offset;
  }

  @Override
  public int rowLength() {
    return length;
  }

  @Override
  public long time() {
    return time;
  }

  @Override
  public long diff() {
    return diff;
  }

  @Override
  public void close() throws IOException {
    updates.close();
  }

  @Override
  public String toString() {
    return updates.toString();
  }
}
