package dev.tidemark.flink.append;

import dev.tidemark.flink.message.WrittenBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The batches of one shard that aren't known to be in its log: those in keyed state, and those that
 * came since the last barrier.
 */
final class PendingBatches {
  private final List<WrittenBatch> untagged = new ArrayList<>();
  private final Map<PendingKey, WrittenBatch> inState = new HashMap<>();

  /** What a restored state brought: covered, whatever its tags say. */
  private final Set<PendingKey> restored = new HashSet<>();

  void add(WrittenBatch batch) {
    untagged.add(batch);
  }

  void addRestored(PendingKey at, WrittenBatch batch) {
    inState.put(at, batch);
    restored.add(at);
  }

  /** Tags what came since the last barrier; these entries are new to keyed state. */
  List<Map.Entry<PendingKey, WrittenBatch>> tag(long checkpoint) {
    List<Map.Entry<PendingKey, WrittenBatch>> tagged = new ArrayList<>();
    for (WrittenBatch batch : untagged) {
      tagged.add(
          Map.entry(new PendingKey(checkpoint, batch.bounds().upper(), batch.slot()), batch));
    }
    untagged.clear();
    tagged.forEach(entry -> inState.put(entry.getKey(), entry.getValue()));
    return tagged;
  }

  /** The batches that may be appended now. */
  List<WrittenBatch> due(Coverage coverage) {
    List<WrittenBatch> due = new ArrayList<>();
    inState.forEach(
        (at, batch) -> {
          if (coverage.covers(at.tag(), at.upper())
              || (restored.contains(at) && !coverage.isGated())) {
            due.add(batch);
          }
        });
    for (WrittenBatch batch : untagged) {
      if (coverage.covers(Coverage.NO_TAG, batch.bounds().upper())) {
        due.add(batch);
      }
    }
    return due;
  }

  /** Forgets batches that are in the shard's log; returns where those in keyed state lay. */
  List<PendingKey> remove(List<WrittenBatch> done) {
    if (done.isEmpty()) {
      return List.of();
    }
    Set<WrittenBatch> gone = new HashSet<>(done);
    untagged.removeIf(gone::contains);
    List<PendingKey> keys = new ArrayList<>();
    inState
        .entrySet()
        .removeIf(
            entry -> {
              boolean removed = gone.contains(entry.getValue());
              if (removed) {
                restored.remove(entry.getKey());
                keys.add(entry.getKey());
              }
              return removed;
            });
    return keys;
  }

  int size() {
    return untagged.size() + inState.size();
  }
}
