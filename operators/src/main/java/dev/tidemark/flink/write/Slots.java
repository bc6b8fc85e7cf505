package dev.tidemark.flink.write;

import dev.tidemark.flink.SlotKeys;
import dev.tidemark.flink.StateSchemas;
import dev.tidemark.flink.message.Update;
import dev.tidemark.time.Frontier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a subtask met so far and the rows that they have: in memory, on disk where that is
 * full, and over a barrier in keyed state. In the task's thread only.
 */
final class Slots {
  /** By shard; few a shard, so looking through them is cheapest. */
  private final List<List<Slot>> byShard = new ArrayList<>();

  private final HeldRows heldRows;
  private final HeldRows heldErrors;
  private final SpillFolder folder;
  private final long mostBytes;
  private long bytes;

  /**
   * What a slot gave away for a description.
   *
   * @param rows of its rows
   * @param errors of its error rows
   */
  record Taken(CloseSlot.Taken rows, CloseSlot.Taken errors) {
    boolean isEmpty() {
      return rows.isEmpty() && errors.isEmpty();
    }

    /** What it takes in memory, about. */
    long bytes() {
      return rows.bytes() + errors.bytes();
    }
  }

  /**
   * Without any rows.
   *
   * @param heldRows the rows in keyed state
   * @param heldErrors the error rows in keyed state
   * @param folder where on disk
   * @param mostBytes what they may have in memory, about
   */
  Slots(int shards, HeldRows heldRows, HeldRows heldErrors, SpillFolder folder, long mostBytes) {
    for (int shard = 0; shard < shards; shard++) {
      byShard.add(new ArrayList<>());
    }
    this.heldRows = heldRows;
    this.heldErrors = heldErrors;
    this.folder = folder;
    this.mostBytes = mostBytes;
  }

  /** Finds the slots that the restored state holds rows of, and brings those into our schema. */
  void restore(StateSchemas schemas) throws Exception {
    for (int key : heldRows.keys()) {
      Slot slot = of(SlotKeys.shardOf(key), key);
      slot.rows().held(true);
      StateSchemas.Former former = schemas.former(slot.shard());
      if (former != null) {
        heldRows.change(slot, former.change(), folder);
      }
    }
    for (int key : heldErrors.keys()) {
      of(SlotKeys.shardOf(key), key).errors().held(true);
    }
  }

  /** The slot of a key, made when it is met first. */
  private Slot of(int shard, int key) {
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

  /** What rows take in memory that aren't in state, about. */
  long bytes() {
    return bytes;
  }

  /** Takes an update in; when memory is full, what the fullest slot has goes to disk. */
  void add(Update update) throws IOException {
    Slot slot = of(update.shard, update.slotKey);
    long before = slot.bytes();
    slot.add(update);
    bytes += slot.bytes() - before;
    Slot largest = bytes > mostBytes ? largest() : null;
    if (largest != null) {
      bytes -= largest.bytes();
      largest.rows().spill(folder);
      largest.errors().spill(folder);
    }
  }

  /** The one that takes most memory; null without slots. */
  private @Nullable Slot largest() {
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

  /** Gives away what of a slot may have rows below {@code upper}. */
  Taken take(Slot slot, Frontier upper) throws Exception {
    return new Taken(
        take(slot, slot.rows(), heldRows, upper), take(slot, slot.errors(), heldErrors, upper));
  }

  private CloseSlot.Taken take(Slot slot, Lane lane, HeldRows held, Frontier upper)
      throws Exception {
    Runs spilled = lane.spilled();
    boolean leavesDisk = spilled != null && upper.hasPassed(spilled.minTime());
    Runs taken = leavesDisk ? lane.takeSpilled() : null;
    Runs runs = taken == null ? new Runs(folder) : taken;
    if (lane.held() && upper.hasPassed(lane.heldMinTime())) {
      held.take(slot, lane, upper, runs);
    }
    boolean leaves = upper.hasPassed(lane.rows().minTime());
    Lane.Rows rows = leaves ? lane.take() : new Lane.Rows();
    bytes -= rows.bytes();
    return new CloseSlot.Taken(rows, runs);
  }

  /** Takes back the rows of a slot that were given away and may not leave yet. */
  void putBack(Slot slot, Staying rows, Staying errors) throws Exception {
    bytes += rows.rows().bytes() + errors.rows().bytes();
    slot.rows().putBack(rows);
    slot.errors().putBack(errors);
  }

  /** Puts all that is in memory and on disk into keyed state. */
  void hold() throws Exception {
    for (Slot slot : all()) {
      bytes -= slot.bytes();
      heldRows.hold(slot, slot.rows());
      heldErrors.hold(slot, slot.errors());
    }
  }
}
