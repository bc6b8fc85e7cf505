package dev.tidemark.part;

import dev.tidemark.row.ForwardingCursor;
import dev.tidemark.row.Memcomparable;
import dev.tidemark.row.UpdateCursor;
import java.io.IOException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The updates of a run whose rows lie in a range. */
final class RangeCursor extends ForwardingCursor {
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private boolean begun;
  private boolean over;

  RangeCursor(UpdateCursor run, KeyRange range) {
    super(run);
    this.from = range.from() == null ? null : HexFormat.of().parseHex(range.from());
    this.to = range.to() == null ? null : HexFormat.of().parseHex(range.to());
    this.begun = from == null;
  }

  @Override
  public boolean next() throws IOException {
    while (!over && updates.next()) {
      if (to != null && compareTo(to) >= 0) {
        break;
      }
      if (begun || from == null || compareTo(from) >= 0) {
        begun = true;
        return true;
      }
    }
    over = true;
    return false;
  }

  private int compareTo(byte[] bound) {
    return Memcomparable.compare(row(), rowOffset(), rowLength(), bound, 0, bound.length);
  }
}
