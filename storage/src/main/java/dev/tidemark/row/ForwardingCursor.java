package dev.tidemark.row;

import java.io.IOException;

/** A cursor that gives another's updates as they are; a subclass says which. */
public abstract class ForwardingCursor implements UpdateCursor {
  /** Whose updates they are. */
  protected final UpdateCursor updates;

  /** Closes {@code updates} when it is closed. */
  protected ForwardingCursor(UpdateCursor updates) {
    this.updates = updates;
  }

  @Override
  public final byte[] row() {
    return updates.row();
  }

  @Override
  public final int rowOffset() {
    return updates.rowOffset();
  }

  @Override
  public final int rowLength() {
    return updates.rowLength();
  }

  @Override
  public final long time() {
    return updates.time();
  }

  @Override
  public final long diff() {
    return updates.diff();
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
