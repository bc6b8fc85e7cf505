package dev.tidemark.sim;

import dev.tidemark.log.LogEntry;
import dev.tidemark.spine.Batch;
import dev.tidemark.time.Frontier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which error rows each batch must have: those of its writer for its interval, or those of all that
 * it replaced. None goes but with error parts that an operator had forgotten, or with the shard.
 */
final class ErrorLedger {
  private final boolean errors;

  /** By the id of their batch. */
  private final Map<String, List<Update>> right = new HashMap<>();

  private Frontier forgotten = Frontier.MINIMUM;

  /**
   * Of a new shard.
   *
   * @param errors whether writers have error rows
   */
  ErrorLedger(boolean errors) {
    this.errors = errors;
  }

  /** An operator is about to drop the errors before a time. */
  void mayForget(Frontier before) {
    forgotten = forgotten.max(before);
  }

  /**
   * A batch came with a version.
   *
   * @param gone the batches that left with it
   * @param stored the batch's error rows
   */
  void came(LogEntry entry, Batch batch, List<Batch> gone, List<Update> stored) {
    switch (entry.command()) {
      case "append" -> {
        String writer = Truth.writer(entry).writer();
        put(batch, errors ? Rows.errorsOf(writer, batch.bounds()) : List.of());
      }
      case "forget-errors" -> checkForgotten(batch, gone, stored);
      case "discard" -> put(batch, List.of());
      default -> {
        List<Update> all = new ArrayList<>();
        gone.forEach(input -> all.addAll(of(input)));
        put(batch, all);
      }
    }
    checkStays(batch, stored);
  }

  /** Throws unless a batch has the error rows that it should. */
  void checkStays(Batch batch, List<Update> stored) {
    if (!Rows.consolidated(stored, Frontier.MINIMUM).equals(of(batch))) {
      throw new ViolationError(
          "I5",
          "batch " + batch.id() + " should have the errors " + of(batch) + ", it has " + stored);
    }
  }

  /** The batch is one that left, without some of its error parts. */
  private void checkForgotten(Batch batch, List<Batch> gone, List<Update> stored) {
    List<Update> missing = new ArrayList<>();
    for (Batch old : gone) {
      if (old.bounds().equals(batch.bounds())) {
        missing.addAll(of(old));
      }
    }
    put(batch, stored);
    for (Update error : of(batch)) {
      if (!missing.remove(error)) {
        throw new ViolationError("I5", "batch " + batch.id() + " got the error " + error);
      }
    }
    for (Update error : missing) {
      if (!forgotten.hasPassed(error.time())) {
        throw new ViolationError(
            "I5", "error " + error + " is forgotten, those before " + forgotten + " should be");
      }
    }
  }

  private void put(Batch batch, List<Update> rows) {
    right.put(batch.id(), Rows.consolidated(rows, batch.since()));
  }

  private List<Update> of(Batch batch) {
    return right.getOrDefault(batch.id(), List.of());
  }
}
