package dev.tidemark.flink.write;

import dev.tidemark.row.RowChange;
import dev.tidemark.row.UpdateCursor;
import dev.tidemark.time.Frontier;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * The rows of all slots that wait over a barrier, of one lane each, in keyed state: sorted runs in
 * {@link HeldChunks}, an entry each, as a value of RocksDB's may not exceed 2 GiB and none should
 * be read whole. The methods make a slot's key the current one.
 *
 * <p>Earlier builds kept one list a slot, its runs one after another; it is taken over on restore.
 */
final class HeldRows {
  private final String name;
  private final AbstractStreamOperator<?> operator;
  private final MapState<ChunkKey, byte[]> chunks;

  /** Those of a lane, {@code rows} or {@code errors}. */
  HeldRows(String lane, AbstractStreamOperator<?> operator, KeyedStateStore store)
      throws Exception {
    this.name = "held-" + lane + "-2";
    this.operator = operator;
    this.chunks =
        store.getMapState(
            new MapStateDescriptor<>(
                name, ChunkKey.TYPE, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    takeOver("held-" + lane + "-1", store);
  }

  private void takeOver(String earlier, KeyedStateStore store) throws Exception {
    ListState<byte[]> list =
        store.getListState(
            new ListStateDescriptor<>(
                earlier, PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    for (int key : keys(earlier)) {
      operator.setCurrentKey(key);
      long run = Runs.newRun();
      int number = 0;
      for (byte[] chunk : list.get()) {
        if (HeldChunks.beginsRun(chunk)) {
          run = Runs.newRun();
          number = 0;
        }
        chunks.put(new ChunkKey(run, number++), chunk);
      }
      list.clear();
    }
  }

  private List<Integer> keys(String state) {
    try (var found =
        operator.<Integer>getKeyedStateBackend().getKeys(state, VoidNamespace.INSTANCE)) {
      return found.distinct().toList();
    }
  }

  /** The keys of the slots that have any. */
  List<Integer> keys() {
    return keys(name);
  }

  /** Takes those chunks of a slot out that have a row below {@code upper}. */
  void take(Slot slot, Lane lane, Frontier upper, Runs into) throws Exception {
    operator.setCurrentKey(slot.key());
    long minTime = Long.MAX_VALUE;
    boolean left = false;
    Iterator<Map.Entry<ChunkKey, byte[]>> all = chunks.iterator();
    while (all.hasNext()) {
      Map.Entry<ChunkKey, byte[]> chunk = all.next();
      long time = HeldChunks.minTime(chunk.getValue());
      if (upper.hasPassed(time)) {
        into.add(chunk.getKey(), chunk.getValue());
        all.remove();
      } else {
        minTime = Math.min(minTime, time);
        left = true;
      }
    }
    lane.held(left, minTime);
  }

  /** Puts in what a slot has in memory and on disk. */
  void hold(Slot slot, Lane lane) throws Exception {
    if (lane.isEmpty()) {
      return;
    }
    operator.setCurrentKey(slot.key());
    try (Runs spilled = lane.takeSpilled()) {
      if (spilled != null) {
        spilled.forEach(chunks::put);
        lane.addHeld(spilled.minTime());
      }
    }
    if (!lane.rows().isEmpty()) {
      long run = Runs.newRun();
      int number = 0;
      try (UpdateCursor sorted = lane.rows().sorted()) {
        HeldChunks.Cutter cutter = new HeldChunks.Cutter(sorted);
        for (byte[] chunk = cutter.next(); chunk != null; chunk = cutter.next()) {
          chunks.put(new ChunkKey(run, number++), chunk);
        }
      }
      lane.addHeld(lane.rows().minTime());
      lane.rows().clear();
    }
  }

  /** Brings the rows of a slot into another schema. */
  void change(Slot slot, RowChange change, SpillFolder folder) throws Exception {
    operator.setCurrentKey(slot.key());
    try (Runs changed = new Runs(folder)) {
      for (byte[] chunk : chunks.values()) {
        try (UpdateCursor rows = HeldChunks.changed(chunk, change)) {
          changed.add(rows);
        }
      }
      chunks.clear();
      changed.forEach(chunks::put);
    }
  }
}
