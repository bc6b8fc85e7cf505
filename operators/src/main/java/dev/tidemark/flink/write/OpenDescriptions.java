package dev.tidemark.flink.write;

import dev.tidemark.time.BatchDescription;
import dev.tidemark.time.Frontier;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The descriptions that came and haven't begun to close, and up to where those have that did. */
final class OpenDescriptions {
  private final Deque<BatchDescription> open = new ArrayDeque<>();
  private @Nullable Frontier described;
  private Frontier closed;

  /**
   * None yet.
   *
   * @param closed up to where the attempt before has closed what its last checkpoint holds
   */
  OpenDescriptions(Frontier closed) {
    this.closed = closed;
  }

  /** The next description. */
  void add(BatchDescription description) {
    if (described != null && !described.equals(description.lower())) {
      throw new IllegalStateException(
          "description "
              + description
              + " doesn't begin at "
              + described
              + ", where the last ended");
    }
    if (described == null) {
      closed = closed.max(description.lower());
    }
    described = description.upper();
    open.add(description);
  }

  /**
   * Takes the first description if it may close: the rows' own watermark has passed it, or a
   * barrier proves that its rows are in.
   *
   * @param passed what the rows' watermark has passed
   */
  @Nullable BatchDescription next(Frontier passed, boolean barrier) {
    BatchDescription first = open.peekFirst();
    if (first == null || !(barrier || passed.isEnd() || !passed.isBefore(first.upper()))) {
      return null;
    }
    open.removeFirst();
    closed = first.upper();
    return first;
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** A row below this comes too late for its own time: the description of that has closed. */
  Frontier closed() {
    return closed;
  }
}
