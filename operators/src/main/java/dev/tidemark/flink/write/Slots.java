package dev.tidemark.flink.write;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The slots of a subtask met so far, and what they have in memory. */
final class Slots {
  /** By shard; few a shard, so looking through them is cheapest. */
  private final List<List<Slot>> byShard = new ArrayList<>();

  Slots(int shards) {
    for (int shard = 0; shard < shards; shard++) {
      byShard.add(new ArrayList<>());
    }
  }

  /** The slot of a key, made when it is met first. */
  Slot of(int shard, int key) {
    List<Slot> slots = byShard.get(shard);
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      if (slot.key() == key) {
        return slot;
      }
    }
    Slot made = new Slot(shard, key);
    slots.add(made);
    return made;
  }

  /** All of them. */
  List<Slot> all() {
    List<Slot> all = new ArrayList<>();
    byShard.forEach(all::addAll);
    return all;
  }

  /** The one that takes most memory; null without slots. */
  @Nullable Slot largest() {
    Slot largest = null;
    for (List<Slot> slots : byShard) {
      for (Slot slot : slots) {
        if (largest == null || slot.bytes() > largest.bytes()) {
          largest = slot;
        }
      }
    }
    return largest;
  }
}
