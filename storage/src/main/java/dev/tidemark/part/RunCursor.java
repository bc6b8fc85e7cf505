package dev.tidemark.part;

import dev.tidemark.row.UpdateCursor;
import dev.tidemark.schema.Schema;
import dev.tidemark.spine.Part;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The updates of parts one after another, one part open at a time. */
final class RunCursor implements UpdateCursor {
  private final PartStore store;
  private final Iterator<Part> parts;
  private final Schema written;
  private final Schema wanted;
  private final KeyRange range;
  private @Nullable UpdateCursor current;

  RunCursor(PartStore store, List<Part> parts, Schema written, Schema wanted, KeyRange range) {
    this.store = store;
    this.parts = parts.iterator();
    this.written = written;
    this.wanted = wanted;
    this.range = range;
  }

  @Override
  public boolean next() throws IOException {
    UpdateCursor from = current;
    while (from == null || !from.next()) {
      close();
      if (!parts.hasNext()) {
        return false;
      }
      from = store.read(parts.next(), written, wanted, range);
      current = from;
    }
    return true;
  }

  private UpdateCursor current() {
    if (current == null) {
      throw new IllegalStateException("there is no update");
    }
    return current;
  }

  @Override
  public byte[] row() {
    return current().row();
  }

  @Override
  public int rowOffset() {
    return current().rowOffset();
  }

  @Override
  public int rowLength() {
    return current().rowLength();
  }

  @Override
  public long time() {
    return current().time();
  }

  @Override
  public long diff() {
    return current().diff();
  }

  @Override
  public void close() throws IOException {
    UpdateCursor closing = current;
    current = null;
    if (closing != null) {
      closing.close();
    }
  }

  @Override
  public String toString() {
    return current == null ? "a run" : current.toString();
  }
}
