package dev.tidemark.read;

import dev.tidemark.part.PartGoneException;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.shard.ShardState;
import java.io.IOException;
import java.util.Arrays;

/**
 * Updates that are the same whatever merges do to the shard meanwhile: when a part is gone, they
 * are opened once more on a newer state, and those that were given already are passed over. They
 * come in order of row and time, equal ones summed, so the last one given tells which.
 */
final class HeldCursor implements UpdateCursor {
  /** Updates between two looks at the hold. */
  private static final int TICK = 256;

  /** Opens the updates on a state, or says by name that they can't be had any more. */
  interface Opening {
    UpdateCursor on(ShardState state, Schema wanted) throws IOException;
  }

  private final HeldReader reader;
  private final Opening opening;
  private ShardState used;
  private UpdateCursor updates;
  private byte[] row = new byte[256];
  private int length;
  private long time;
  private long given;
  private boolean passingOver;
  private int untilTick = TICK;

  HeldCursor(HeldReader reader, Opening opening) throws IOException {
    this.reader = reader;
    this.opening = opening;
    this.used = reader.state();
    this.updates = open();
  }

  private UpdateCursor open() throws IOException {
    while (true) {
      try {
        return opening.on(used, reader.schema());
      } catch (PartGoneException e) {
        reader.refreshAfterLoss(used, e);
        used = reader.state();
      }
    }
  }

  @Override
  public boolean next() throws IOException {
    if (--untilTick == 0) {
      untilTick = TICK;
      reader.tick();
    }
    while (true) {
      try {
        while (updates.next()) {
          if (!passingOver || !givenAlready()) {
            remember();
            return true;
          }
        }
        return false;
      } catch (PartGoneException e) {
        reopen(e);
      }
    }
  }

  private void reopen(PartGoneException gone) throws IOException {
    try {
      updates.close();
    } catch (IOException e) {
      gone.addSuppressed(e);
    }
    reader.refreshAfterLoss(used, gone);
    used = reader.state();
    passingOver = given > 0;
    updates = open();
  }

  private boolean givenAlready() {
    int from = updates.rowOffset();
    int order =
        Arrays.compareUnsigned(updates.row(), from, from + updates.rowLength(), row, 0, length);
    return order < 0 || (order == 0 && updates.time() <= time);
  }

  private void remember() {
    length = updates.rowLength();
    if (row.length < length) {
      row = new byte[Math.max(length, 2 * row.length)];
    }
    System.arraycopy(updates.row(), updates.rowOffset(), row, 0, length);
    time = updates.time();
    given++;
    passingOver = false;
  }

  @Override
  public byte[] row() {
    return row;
  }

  @Override
  public int rowOffset() {
    return 0;
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
    return updates.diff();
  }

  @Override
  public void close() throws IOException {
    updates.close();
  }
}
